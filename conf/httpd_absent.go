package conf

import (
	"strings"
	"sync"
)

// absent are the modules of Apache that jkd does without, what does not work
// then, and their directives. An empty text: nothing that anybody would miss.
var absent = []struct{ modules, text, directives string }{
	{"ssl", "jkd listens without TLS: what is to be encrypted needs something in front that does it",
		`SSLCACertificateFile SSLCACertificatePath SSLCADNRequestFile SSLCADNRequestPath SSLCARevocationCheck SSLCARevocationFile
		SSLCARevocationPath SSLCertificateChainFile SSLCertificateFile SSLCertificateKeyFile SSLCipherSuite SSLCompression
		SSLCryptoDevice SSLFIPS SSLHonorCipherOrder SSLInsecureRenegotiation SSLLog SSLLogLevel SSLMutex SSLOCSPDefaultResponder
		SSLOCSPEnable SSLOCSPNoVerify SSLOCSPOverrideResponder SSLOCSPProxyURL SSLOCSPResponderCertificateFile
		SSLOCSPResponderTimeout SSLOCSPResponseMaxAge SSLOCSPResponseTimeSkew SSLOCSPUseRequestNonce SSLOpenSSLConfCmd
		SSLOptions SSLPassPhraseDialog SSLProtocol SSLRandomSeed SSLRenegBufferSize SSLSessionCache SSLSessionCacheTimeout
		SSLSessionTicketKeyFile SSLSessionTickets SSLSRPUnknownUserSeed SSLSRPVerifierFile SSLStaplingCache
		SSLStaplingErrorCacheTimeout SSLStaplingFakeTryLater SSLStaplingForceURL SSLStaplingResponderTimeout
		SSLStaplingResponseMaxAge SSLStaplingResponseTimeSkew SSLStaplingReturnResponderErrors SSLStaplingStandardCacheTimeout
		SSLStrictSNIVHostCheck SSLUserName SSLUseStapling SSLVerifyDepth SSLVHostSNIPolicy`},
	{"", "containers are spoken to without TLS",
		`SSLProxyCACertificateFile SSLProxyCACertificatePath SSLProxyCARevocationCheck SSLProxyCARevocationFile
		SSLProxyCARevocationPath SSLProxyCheckPeerCN SSLProxyCheckPeerExpire SSLProxyCheckPeerName SSLProxyCipherSuite
		SSLProxyEngine SSLProxyMachineCertificateChainFile SSLProxyMachineCertificateFile SSLProxyMachineCertificatePath
		SSLProxyProtocol SSLProxyVerify SSLProxyVerifyDepth`},
	{"md", "jkd listens without TLS and needs no certificates",
		`<MDomain <MDomainSet MDActivationDelay MDBaseServer MDCACertificateFile MDCAChallenges MDCertificateAgreement
		MDCertificateAuthority MDCertificateCheck MDCertificateFile MDCertificateKeyFile MDCertificateProtocol
		MDCertificateStatus MDChallengeDns01 MDChallengeDns01Version MDCheckInterval MDContactEmail MDDriveMode
		MDExternalAccountBinding MDHttpProxy MDHttpProxyCACertificateFile MDInitialDelay MDMatchNames MDMember MDMembers
		MDMessageCmd MDMustStaple MDNotifyCmd MDomain MDPortMap MDPrivateKeys MDProfile MDProfileMandatory MDRenewMode
		MDRenewViaARI MDRenewWindow MDRequireHttps MDRetryDelay MDRetryFailover MDServerStatus MDStapleOthers MDStapling
		MDStaplingKeepResponse MDStaplingRenewWindow MDStoreDir MDStoreLocks MDWarnWindow`},
	{"rewrite", "paths are not rewritten",
		"RewriteBase RewriteCond RewriteLock RewriteLog RewriteLogLevel RewriteMap RewriteOptions RewriteRule"},
	{"deflate brotli", "answers are not compressed",
		`BrotliAlterETag BrotliCompressionMaxInputBlock BrotliCompressionQuality BrotliCompressionWindow BrotliFilterNote
		DeflateAlterEtag DeflateBufferSize DeflateCompressionLevel DeflateFilterNote DeflateInflateLimitRequestBody
		DeflateInflateRatioBurst DeflateInflateRatioLimit DeflateMemLevel DeflateWindowSize`},
	{"filter ext_filter charset_lite case_filter case_filter_in bucketeer", "answers pass through no filters",
		`AddOutputFilterByType CaseFilter CaseFilterIn CharsetDefault CharsetOptions CharsetSourceEnc ExtFilterDefine
		ExtFilterOptions FilterChain FilterDeclare FilterProtocol FilterProvider FilterTrace`},
	{"xml2enc proxy_html substitute sed", "pages are sent as they are",
		`InputSed OutputSed ProxyHTMLBufSize ProxyHTMLCharsetOut ProxyHTMLDoctype ProxyHTMLEnable ProxyHTMLEvents
		ProxyHTMLExtended ProxyHTMLFixups ProxyHTMLInterp ProxyHTMLLinks ProxyHTMLMeta ProxyHTMLStripComments ProxyHTMLURLMap
		Substitute SubstituteInheritBefore SubstituteMaxLineLength xml2EncAlias xml2EncDefault xml2StartParse`},
	{"include", "there are no server-side includes",
		"SSIEndTag SSIErrorMsg SSIEtag SSILastModified SSILegacyExprParser SSIStartTag SSITimeFormat SSIUndefinedEcho XBitHack"},
	{"expires", "no Expires and Cache-Control are added",
		"ExpiresActive ExpiresByType ExpiresDefault"},
	{"cache cache_disk cache_socache disk_cache mem_cache file_cache", "nothing is cached",
		`CacheDefaultExpire CacheDetailHeader CacheDirLength CacheDirLevels CacheDisable CacheEnable cachefile CacheHeader
		CacheIgnoreCacheControl CacheIgnoreHeaders CacheIgnoreNoLastMod CacheIgnoreQueryString CacheIgnoreURLSessionIdentifiers
		CacheKeyBaseURL CacheLastModifiedFactor CacheLock CacheLockMaxAge CacheLockPath CacheMaxExpire CacheMaxFileSize
		CacheMinExpire CacheMinFileSize CacheQuickHandler CacheReadSize CacheReadTime CacheRoot CacheSocache CacheSocacheMaxSize
		CacheSocacheMaxTime CacheSocacheMinTime CacheSocacheReadSize CacheSocacheReadTime CacheStaleOnError CacheStoreExpired
		CacheStoreNoStore CacheStorePrivate mmapfile`},
	{"cgi cgid actions", "there are no CGI programs",
		`Action CGIDScriptTimeout CGIScriptTimeout Script ScriptInterpreterSource ScriptLog ScriptLogBuffer ScriptLogLength
		ScriptSock`},
	{"userdir", "there are no directories of users",
		"UserDir"},
	{"negotiation", "nothing is negotiated, MultiViews is off",
		"CacheNegotiatedDocs ForceLanguagePriority LanguagePriority"},
	{`auth_basic auth_digest auth_form authn_anon authn_dbd authn_dbm authn_file authn_socache authnz_fcgi
		authnz_ldap authz_dbd authz_dbm authz_groupfile authz_owner authz_user auth auth_dbm auth_anon auth_ldap`, "nobody is asked for a password, except for the status page",
		`<AuthnProviderAlias Anonymous Anonymous_LogEmail Anonymous_MustGiveEmail Anonymous_NoUserId Anonymous_VerifyEmail
		AuthBasicAuthoritative AuthBasicFake AuthBasicProvider AuthBasicUseDigestAlgorithm AuthDBDUserPWQuery
		AuthDBDUserRealmQuery AuthDBMGroupFile AuthDBMType AuthDBMUserFile AuthDigestAlgorithm AuthDigestDomain
		AuthDigestNcCheck AuthDigestNonceLifetime AuthDigestProvider AuthDigestQop AuthDigestShmemSize AuthFormAuthoritative
		AuthFormBody AuthFormDisableNoStore AuthFormFakeBasicAuth AuthFormLocation AuthFormLoginRequiredLocation
		AuthFormLoginSuccessLocation AuthFormLogoutLocation AuthFormMethod AuthFormMimetype AuthFormPassword AuthFormProvider
		AuthFormSitePassphrase AuthFormSize AuthFormUsername AuthGroupFile AuthLDAPAuthorizePrefix AuthLDAPBindAuthoritative
		AuthLDAPBindDN AuthLDAPBindPassword AuthLDAPCharsetConfig AuthLDAPCompareAsUser AuthLDAPCompareDNOnServer
		AuthLDAPDereferenceAliases AuthLDAPGroupAttribute AuthLDAPGroupAttributeIsDN AuthLDAPInitialBindAsUser
		AuthLDAPInitialBindPattern AuthLDAPMaxSubGroupDepth AuthLDAPRemoteUserAttribute AuthLDAPRemoteUserIsDN
		AuthLDAPSearchAsUser AuthLDAPSubGroupAttribute AuthLDAPSubGroupClass AuthLDAPURL AuthName AuthnCacheContext
		AuthnCacheEnable AuthnCacheProvideFor AuthnCacheSOCache AuthnCacheTimeout AuthnzFcgiCheckAuthnProvider
		AuthnzFcgiDefineProvider AuthType AuthUserFile AuthzDBDLoginToReferer AuthzDBDQuery AuthzDBDRedirectQuery AuthzDBMType`},
	{"ldap", "nobody is looked up",
		`LDAPCacheEntries LDAPCacheTTL LDAPConnectionPoolTTL LDAPConnectionTimeout LDAPLibraryDebug LDAPOpCacheEntries
		LDAPOpCacheTTL LDAPReferralHopLimit LDAPReferrals LDAPRetries LDAPRetryDelay LDAPSharedCacheFile LDAPSharedCacheSize
		LDAPTimeout LDAPTrustedClientCert LDAPTrustedGlobalCert LDAPTrustedMode LDAPVerifyServerCert`},
	{"session session_cookie session_crypto session_dbd", "there are no sessions but the container's",
		`Session SessionCookieName SessionCookieName2 SessionCookieRemove SessionCryptoCipher SessionCryptoDriver
		SessionCryptoPassphrase SessionCryptoPassphraseFile SessionDBDCookieName SessionDBDCookieName2 SessionDBDCookieRemove
		SessionDBDDeleteLabel SessionDBDInsertLabel SessionDBDPerUser SessionDBDSelectLabel SessionDBDUpdateLabel SessionEnv
		SessionExclude SessionExpiryUpdateInterval SessionHeader SessionInclude SessionMaxAge`},
	{"dav dav_fs dav_lock", "there is no WebDAV",
		"DAV DAVBasePath DAVDepthInfinity DAVGenericLockDB DAVLockDB DAVLockDiscovery DAVMinTimeout"},
	{"info", "there is no /server-info; jkd -t and -dump tell what the configuration is",
		"AddModuleInfo"},
	{"proxy_ftp", "there is no FTP through ProxyPass",
		"ProxyFtpDirCharset ProxyFtpEscapeWildcards ProxyFtpListOnWildcard"},
	{"proxy_connect", "jkd is no forward proxy",
		"AllowCONNECT"},
	{"proxy_fcgi proxy_fdpass", "there is no FastCGI through ProxyPass",
		"ProxyFCGIBackendType ProxyFCGISetEnvIf"},
	{"proxy_scgi", "there is no SCGI through ProxyPass",
		"ProxySCGIInternalRedirect ProxySCGISendfile"},
	{"proxy_uwsgi", "there is no uwsgi through ProxyPass", ""},
	{"proxy_express", "ProxyPass rules are not read from a map",
		"ProxyExpressDBMFile ProxyExpressDBMType ProxyExpressEnable"},
	{"proxy_http2", "containers are spoken to in HTTP/1.1", ""},
	{"proxy_hcheck", "idle balancer members are not checked",
		"ProxyHCExpr ProxyHCTemplate ProxyHCTPsize"},
	{"lbmethod_heartbeat heartbeat heartmonitor", "load is not told by heartbeats",
		"HeartbeatAddress HeartbeatListen HeartbeatMaxServers HeartbeatStorage"},
	{"http2", "clients are spoken to in HTTP/1.1",
		`H2CopyFiles H2Direct H2EarlyHint H2EarlyHints H2MaxDataFrameLen H2MaxHeaderBlockLen H2MaxSessionStreams
		H2MaxStreamErrors H2MaxWorkerIdleSeconds H2MaxWorkers H2MinWorkers H2ModernTLSOnly H2OutputBuffering H2Padding
		H2ProxyRequests H2Push H2PushDiarySize H2PushPriority H2PushResource H2SerializeHeaders H2SessionExtraFiles
		H2StreamMaxMemSize H2StreamTimeout H2TLSCoolDownSecs H2TLSWarmUpSize H2Upgrade H2WebSockets H2WindowSize`},
	{"remoteip", "the address of the connection is the client's",
		`RemoteIPHeader RemoteIPInternalProxy RemoteIPInternalProxyList RemoteIPProxiesHeader RemoteIPProxyProtocol
		RemoteIPProxyProtocolExceptions RemoteIPTrustedProxy RemoteIPTrustedProxyList`},
	{"ratelimit dialup", "answers are sent as fast as they can be",
		"ModemStandard SetRateLimit"},
	{"reqtimeout", "TimeOut alone bounds the wait for requests",
		"RequestReadTimeout RequestTimeout"},
	{"allowmethods", "requests of all methods are served",
		"AllowMethods"},
	{"security2", "requests are not filtered",
		"ModSecurity SecAction SecAuditEngine SecAuditLog SecDataDir SecRequestBodyAccess SecRule SecRuleEngine"},
	{"evasive20", "nobody is locked out",
		`DOSBlockingPeriod DOSEmailNotify DOSHashTableSize DOSLogDir DOSPageCount DOSPageInterval DOSSiteCount DOSSiteInterval
		DOSSystemCommand DOSWhitelist`},
	{"php php5 php7", "there is no PHP",
		"php_admin_flag php_admin_value php_flag php_value PHPIniDir"},
	{"perl", "there is no Perl",
		"<Perl PerlHandler PerlModule PerlOptions PerlRequire PerlSwitches"},
	{"wsgi", "there is no Python",
		"WSGIApplicationGroup WSGIDaemonProcess WSGIProcessGroup WSGIPythonHome WSGIPythonPath WSGIScriptAlias"},
	{"lua", "there is no Lua",
		`<LuaHookAccessChecker <LuaHookAuthChecker <LuaHookCheckUserID <LuaHookFixups <LuaHookMapToStorage
		<LuaHookPreTranslateName <LuaHookTranslateName <LuaHookTypeChecker <LuaQuickHandler Lua_____ByteCodeHack
		LuaAuthzProvider LuaCodeCache LuaHookAccessChecker LuaHookAuthChecker LuaHookCheckUserID LuaHookFixups
		LuaHookInsertFilter LuaHookLog LuaHookMapToStorage LuaHookPreTranslateName LuaHookTranslateName LuaHookTypeChecker
		LuaInherit LuaInputFilter LuaMapHandler LuaOutputFilter LuaPackageCPath LuaPackagePath LuaQuickHandler LuaRoot LuaScope`},
	{"passenger", "there is no Ruby",
		"PassengerRoot PassengerRuby"},
	{"speling", "misspelt paths are not corrected",
		"CheckBasenameMatch CheckCaseOnly CheckSpelling"},
	{"vhost_alias", "virtual hosts are named one by one",
		"VirtualDocumentRoot VirtualDocumentRootIP VirtualScriptAlias VirtualScriptAliasIP"},
	{"macro", "macros are not supported; Define and Include can do some of what they do",
		"MacroIgnoreBadNesting MacroIgnoreEmptyArgs UndefMacro"},
	{"usertrack", "there are no cookies that follow users",
		"CookieDomain CookieExpires CookieHttpOnly CookieName CookieSameSite CookieSecure CookieStyle CookieTracking"},
	{"unique_id", "there is no UNIQUE_ID", ""},
	{"asis", "there are no files sent as they are", ""},
	{"imagemap", "there are no image maps",
		"ImapBase ImapDefault ImapMenu"},
	{"cern_meta", "files have no header fields of their own",
		"MetaDir MetaFiles MetaSuffix"},
	{"dbd", "there are no databases",
		"DBDExptime DBDInitSQL DBDKeep DBDMax DBDMin DBDParams DBDPersist DBDPrepareSQL DBDriver"},
	{"ident", "clients are not asked who they are",
		"IdentityCheck IdentityCheckTimeout"},
	{"suexec", "there are no CGI programs",
		"SuexecUserGroup"},
	{"log_forensic log_debug dumpio", "there are no such logs",
		"DumpIOInput DumpIOOutput ForensicLog LogMessage"},
	{"buffer request reflector echo data", "bodies are passed on as they come",
		"BufferSize KeptBodySize ProtocolEcho ReflectorHeader"},
	{`logio mime_magic socache_dbm socache_shmcb socache_memcache socache_redis slotmem_shm slotmem_plain authn_core systemd watchdog
		authz_unixgroup`, "",
		"LogIOTrackTTFB MemcacheConnTTL MimeMagicFile RedisConnPoolTTL RedisTimeout WatchdogInterval"},
}

// absentModules is what is said of each module, by its ID.
var absentModules = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, a := range absent {
		for name := range strings.FieldsSeq(a.modules) {
			all[name+"_module"] = a.text
		}
	}
	return all
})
