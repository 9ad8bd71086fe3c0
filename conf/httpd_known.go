package conf

import "strings"

// noted is a directive of Apache that does nothing in jkd, and what is said of
// it.
type noted struct {
	name     string
	severity Severity
	text     string
}

// notNeeded are directives that are known and not acted upon, by lower-case
// name; sections with '<' before it.
var notNeeded = func() map[string]noted {
	all := map[string]noted{}
	add := func(severity Severity, text, names string) {
		for name := range strings.FieldsSeq(names) {
			all[strings.ToLower(name)] = noted{name, severity, text}
		}
	}
	add(Info, "is not needed",
		`ServerTokens ServerSignature ServerAdmin TraceEnable EnableMMAP EnableSendfile EnableExceptionHook NameVirtualHost ServerPath
		ServerType ResourceConfig AccessConfig Port UseCanonicalPhysicalPort ContentDigest ProtocolsHonorOrder RegisterHttpMethod
		MaxRangeOverlaps MaxRangeReversals MaxRanges SeeRequestTail GprofDir Protocol Suexec LogIOTrackTTFB AsyncRequestWorkerFactor
		ScriptSock ScriptLog Mutex AcceptMutex LockFile AcceptPathInfo QualifyRedirectURL StrictHostCheck MergeSlashes AllowEncodedSlashes
		HttpProtocolOptions ClearModuleList AddModule BindAddress LoadFile CGIPassAuth CGIMapExtension MergeTrailers RegexDefaultOptions
		FlushMaxPipelined FlushMaxThreshold ReadBufferSize WatchdogInterval AllowMethods`)
	add(Info, "has no effect: the kernel's and the runtime's defaults are used", "ListenCoresBucketsRatio MaxMemFree ReceiveBufferSize SendBufferSize")
	add(Info, "has no effect: .htaccess is never read", "AccessFileName AllowOverrideList AuthMerging")
	add(Info, "has no effect: jkd knows the types of files itself, and sends what the container says of its own",
		`TypesConfig AddType RemoveType ForceType DefaultType AddCharset AddDefaultCharset AddLanguage DefaultLanguage LanguagePriority
		ForceLanguagePriority AddEncoding RemoveEncoding MIMEMagicFile ModMimeUsePathInfo MultiviewsMatch FileETag CacheNegotiatedDocs
		RemoveCharset RemoveLanguage`)
	add(Info, "has no effect on how jkd lists a directory",
		`IndexOptions IndexIgnore IndexIgnoreReset IndexOrderDefault IndexStyleSheet IndexHeadInsert AddIcon AddIconByEncoding
		AddIconByType AddAlt AddAltByEncoding AddAltByType AddDescription DefaultIcon HeaderName ReadmeName DirectorySlash
		DirectoryIndexRedirect DirectoryCheckHandler`)
	add(Info, "has no effect: it is about the forward proxy, or about what jkd does not do",
		`ProxyVia ProxyBadHeader ProxyReceiveBufferSize ProxyMaxForwards NoProxy ProxyDomain AllowCONNECT ProxyBlock ProxyRemote
		ProxyRemoteMatch ProxySourceAddress BalancerPersist BalancerGrowth BalancerInherit ProxyStatus ProxyWebsocketFallbackToProxyHttp
		Proxy100Continue ProxyFtpDirCharset ProxyFtpEscapeWildcards ProxyFtpListOnWildcard`)
	add(Warn, "is not done: header fields are neither set nor removed", "Header RequestHeader")
	add(Warn, "is not done: paths are not rewritten", "RewriteRule RewriteCond RewriteBase RewriteMap RewriteOptions RewriteLog RewriteLogLevel RewriteLock")
	add(Warn, "is not done: jkd sends no redirects of its own", "Redirect RedirectMatch RedirectPermanent RedirectTemp RedirectRelative AliasPreservePath")
	add(Warn, "is not done: jkd's own pages for errors are sent, and the container's for its own", "ErrorDocument")
	add(Warn, "is not done: answers pass through no filters",
		`AddOutputFilter AddOutputFilterByType SetOutputFilter AddInputFilter SetInputFilter RemoveOutputFilter RemoveInputFilter
		FilterDeclare FilterProvider FilterChain FilterProtocol FilterTrace DeflateCompressionLevel DeflateBufferSize DeflateMemLevel
		DeflateWindowSize DeflateFilterNote Substitute ProxyHTMLEnable ProxyHTMLURLMap ProxyHTMLExtended ProxyHTMLLinks XBitHack
		SSIErrorMsg SSITimeFormat BrotliCompressionQuality ExtFilterDefine`)
	add(Warn, "is not done: no Expires and Cache-Control are added, and nothing is cached",
		`ExpiresActive ExpiresByType ExpiresDefault CacheEnable CacheRoot CacheDisable CacheDirLevels CacheDirLength CacheDefaultExpire
		CacheMaxExpire CacheIgnoreHeaders`)
	add(Warn, "is not done: jkd listens without TLS",
		`SSLOptions SSLCertificateFile SSLCertificateKeyFile SSLCertificateChainFile SSLCACertificateFile SSLCACertificatePath
		SSLCARevocationFile SSLCARevocationPath SSLCARevocationCheck SSLCipherSuite SSLProtocol SSLHonorCipherOrder SSLVerifyClient
		SSLVerifyDepth SSLSessionCache SSLSessionCacheTimeout SSLSessionTickets SSLPassPhraseDialog SSLRandomSeed SSLMutex SSLCompression
		SSLUseStapling SSLStaplingCache SSLStaplingResponderTimeout SSLStaplingReturnResponderErrors SSLInsecureRenegotiation
		SSLStrictSNIVHostCheck SSLUserName SSLOpenSSLConfCmd SSLCADNRequestFile SSLCADNRequestPath SSLCryptoDevice SSLFIPS Protocols
		H2Direct H2Push H2Upgrade`)
	add(Warn, "is not done: containers are spoken to without TLS",
		`SSLProxyEngine SSLProxyVerify SSLProxyVerifyDepth SSLProxyCACertificateFile SSLProxyCACertificatePath SSLProxyCheckPeerName
		SSLProxyCheckPeerCN SSLProxyCheckPeerExpire SSLProxyMachineCertificateFile SSLProxyProtocol SSLProxyCipherSuite
		SSLProxyCARevocationFile`)
	add(Warn, "is not done: nobody is asked for a password, except for the status page",
		`AuthType AuthName AuthUserFile AuthGroupFile AuthBasicProvider AuthBasicAuthoritative AuthDigestProvider AuthDigestDomain
		AuthLDAPURL AuthzDBMType AuthBasicFake`)
	add(Warn, "is not done: there are no CGI programs, scripts and includes",
		`AddHandler RemoveHandler Action Script ScriptInterpreterSource PHPIniDir php_value php_flag php_admin_value php_admin_flag
		WSGIScriptAlias WSGIDaemonProcess WSGIProcessGroup`)
	add(Warn, "is not done: the address of the connection is the client's", "RemoteIPHeader RemoteIPInternalProxy RemoteIPTrustedProxy RemoteIPProxyProtocol RemoteIPInternalProxyList RemoteIPTrustedProxyList")
	add(Warn, "is not done: TimeOut alone bounds the wait for requests", "RequestReadTimeout RequestTimeout")
	add(Warn, "is not done",
		`UserDir ModSecurity SecRuleEngine SecRule CookieTracking VirtualDocumentRoot VirtualScriptAlias Dav DavLockDB CheckSpelling
		FallbackResource RLimitCPU RLimitMEM RLimitNPROC LimitXMLRequestBody LimitInternalRecursion ForensicLog GlobalLog SetRateLimit
		IdentityCheck Anonymous`)
	add(Warn, "is not supported: what it is about is not done", "<AuthnProviderAlias <AuthzProviderAlias <Perl <ProxyMacro")
	return all
}()

// refused are directives without which the server would not be what it is meant
// to be.
var refused = map[string]string{
	"scriptalias": "CGI programs are not run, and their sources must not be shown: take the line out", "scriptaliasmatch": "CGI programs are not run, and their sources must not be shown: take the line out",
	"use": "macros are not supported; Define and Include can do some of what they do",
}
