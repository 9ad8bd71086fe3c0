//go:build unix

package main_test

// The files that both fronts of the differential test are given. @c1@ to @c6@
// are ports of containers, @dead@ is one where nobody listens.
const (
	diffWorkers = `
worker.list=w1,w2,w3,w4,w5,w6,slow,fos,dead,big
worker.common.host=127.0.0.1
worker.common.type=ajp13
worker.common.socket_connect_timeout=5000
worker.common.retries=1
worker.w1.reference=worker.common
worker.w1.port=@c1@
worker.w2.reference=worker.common
worker.w2.port=@c2@
worker.w2.secret=s3cret
worker.w3.reference=worker.common
worker.w3.port=@c3@
worker.w3.mount=/src/*,/src2/*,/src3/*,!/src3/no/*
worker.w4.reference=worker.common
worker.w4.port=@c4@
worker.w5.reference=worker.common
worker.w5.port=@c5@
worker.w6.reference=worker.common
worker.w6.port=@c6@
worker.slow.reference=worker.common
worker.slow.port=@c4@
worker.slow.reply_timeout=60000
worker.fos.reference=worker.common
worker.fos.port=@c5@
worker.fos.fail_on_status=404,-410
worker.dead.reference=worker.common
worker.dead.port=@dead@
worker.big.reference=worker.common
worker.big.port=@c6@
worker.big.max_packet_size=16384

# Balancers. The n-th member of each is the container c<n>.
worker.list=lb,forced,domains,standby,states,cookies,ids,failing
worker.lb.type=lb
worker.lb.balance_workers=n1,n2,n3
worker.n1.reference=worker.common
worker.n1.port=@c1@
worker.n2.reference=worker.common
worker.n2.port=@c2@
worker.n2.secret=own
worker.n3.reference=worker.common
worker.n3.port=@c3@
worker.lb.secret=shared

worker.forced.type=lb
worker.forced.balance_workers=f1,f2,f3
worker.forced.sticky_session_force=1
worker.forced.retry_interval=1
worker.f1.reference=worker.common
worker.f1.port=@c1@
worker.f2.reference=worker.common
worker.f2.port=@dead@
worker.f3.reference=worker.common
worker.f3.port=@c3@
worker.f3.activation=S

worker.domains.type=lb
worker.domains.balance_workers=d1,d2,d3
worker.domains.retry_interval=1
worker.d1.reference=worker.common
worker.d1.port=@dead@
worker.d1.domain=east
worker.d1.distance=1
worker.d2.reference=worker.common
worker.d2.port=@c2@
worker.d2.route=west.d2
worker.d3.reference=worker.common
worker.d3.port=@c3@
worker.d3.domain=east
worker.d3.distance=2

worker.standby.type=lb
worker.standby.balance_workers=s1,s2
worker.standby.retry_interval=1
worker.s1.reference=worker.common
worker.s1.port=@dead@
worker.s1.redirect=s2
worker.s2.reference=worker.common
worker.s2.port=@c2@
worker.s2.activation=disabled

worker.states.type=lb
worker.states.balance_workers=a1,a2,a3
worker.a1.reference=worker.common
worker.a1.port=@c1@
worker.a2.reference=worker.common
worker.a2.port=@c2@
worker.a2.activation=disabled
worker.a3.reference=worker.common
worker.a3.port=@c3@
worker.a3.activation=stopped

worker.cookies.type=lb
worker.cookies.balance_workers=k1,k2
worker.cookies.set_session_cookie=true
worker.cookies.session_cookie=SID
worker.cookies.session_cookie_path=/cookies
worker.k1.reference=worker.common
worker.k1.port=@c1@
worker.k2.reference=worker.common
worker.k2.port=@c2@

worker.ids.type=lb
worker.ids.balance_workers=i1,i2,i3
worker.ids.session_cookie=SID
worker.ids.session_path=;sid
worker.i1.reference=worker.common
worker.i1.port=@c1@
worker.i2.reference=worker.common
worker.i2.port=@c2@
worker.i3.reference=worker.common
worker.i3.port=@c3@

worker.failing.type=lb
worker.failing.balance_workers=e1,e2
worker.failing.retry_interval=1
worker.failing.recovery_options=3
worker.e1.reference=worker.common
worker.e1.port=@dead@
worker.e2.reference=worker.common
worker.e2.port=@c2@
worker.e1.lbfactor=100

# Shares of the weights 1, 2 and 3.
worker.list=shareR,shareS,shareN,shareB,shareFar
worker.shareR.type=lb
worker.shareR.balance_workers=r1,r2,r3
worker.shareR.method=R
worker.r1.reference=worker.common
worker.r1.port=@c1@
worker.r1.lbfactor=1
worker.r2.reference=worker.common
worker.r2.port=@c2@
worker.r2.lbfactor=2
worker.r3.reference=worker.common
worker.r3.port=@c3@
worker.r3.lbfactor=3
worker.shareS.type=lb
worker.shareS.balance_workers=q1,q2,q3
worker.shareS.method=S
worker.q1.reference=worker.common
worker.q1.port=@c1@
worker.q1.lbfactor=1
worker.q2.reference=worker.common
worker.q2.port=@c2@
worker.q2.lbfactor=2
worker.q3.reference=worker.common
worker.q3.port=@c3@
worker.q3.lbfactor=3
worker.shareN.type=lb
worker.shareN.balance_workers=o1,o2,o3
worker.shareN.method=N
worker.o1.reference=worker.common
worker.o1.port=@c1@
worker.o1.lbfactor=1
worker.o2.reference=worker.common
worker.o2.port=@c2@
worker.o2.lbfactor=2
worker.o3.reference=worker.common
worker.o3.port=@c3@
worker.o3.lbfactor=3
worker.shareB.type=lb
worker.shareB.balance_workers=b1,b2,b3
worker.shareB.method=B
worker.b1.reference=worker.common
worker.b1.port=@c1@
worker.b1.lbfactor=1
worker.b2.reference=worker.common
worker.b2.port=@c2@
worker.b2.lbfactor=2
worker.b3.reference=worker.common
worker.b3.port=@c3@
worker.b3.lbfactor=3
worker.shareFar.type=lb
worker.shareFar.balance_workers=far1,far2,far3
worker.shareFar.method=R
worker.far1.reference=worker.common
worker.far1.port=@c1@
worker.far1.lbfactor=1
worker.far2.reference=worker.common
worker.far2.port=@c2@
worker.far2.lbfactor=2
worker.far3.reference=worker.common
worker.far3.port=@c3@
worker.far3.lbfactor=3
worker.far1.distance=2
worker.far3.distance=1
`

	diffMap = `
# exact
/=w6
/exact=w1
/exact/leaf.html=w2
/Case/Upper=w3
/enc/a b=w4
/enc/a+b=w5
/enc/grüße/*=w2
/enc/100%=w3
/enc/*=w1

# wildcards
/any/*=w1
/star*=w2
/q?z=w3
/a*b*c=w3
/mid/*/end=w4
/mid/?/end2=w4
/wild/**=w5
/*.do=w5
/*.jsp=w5
/*/deep/*.x=w6

# two rules in one
/pipe|/*=w2
/ext|.x=w3
/two|/a|/b=w4

# exceptions
!/any/static/*=w1
!/*.gif=*
!/pipe/no|/*=w2
!/any/other/*=w2
!/any/hole=w1
!/dot/secret/*=*

# switched off
-/off/*=w1
-!/any/open/*=w1

# which rule wins
/ord/*=w1
/ord/a/*=w2
/ord/ab*=w3
/ord/*b/c=w4
/ord/a?=w5
/ord/exact=w6
/ord/exac*t=w2
/ord/ex*=w3
/ord/x/y/z=w4
/ord/*/*/*=w5
/twice/*=w1
/twice/*=w2
/src/*=w1
/dot/*=w1
/dot/x/*=w4
/slash/a/b=w4
/slash/*=w5
/params/*=w1
/params/app/*=w2
/params/app/no/*=w3

# rule extensions
/dead/*=dead
/fos/*=fos
/fos/own/*=fos;fail_on_status=409,-503
/fos/rule/*=w1;fail_on_status=404 500
/use/*=w1;use_server_errors=400
/use5/*=w1;use_server_errors=500
/rt/*=slow;reply_timeout=300
/rt/two/*=slow;reply_timeout=60000;reply_timeout=300
/none/*=w1;stateless=1;sticky_ignore=1;reply_timeout=-1
/big/*=big
/env/*=w6

# balancers
/lb/*=lb
/lb/ignore/*=lb;sticky_ignore=1
/lb/stateless/*=lb;stateless=1
/lb/dis/*=lb;disabled=n2
/lb/stop/*=lb;stopped=n2,n3
/lb/mixed/*=lb;stopped=n1;disabled=n2
/lb/cookie/*=lb;session_cookie=OTHER
/lb/path/*=lb;session_path=;oid
/lb/set/*=lb;set_session_cookie=1
/lb/fos/*=lb;fail_on_status=-503
/lb/use/*=lb;use_server_errors=400
/forced/*=forced
/domains/*=domains
/standby/*=standby
/states/*=states
/states/on/*=states;active=a2,a3
/states/none/*=states;stopped=a1
/cookies/*=cookies
/ids/*=ids
/failing/*=failing
/share/r/*=shareR
/share/s/*=shareS
/share/n/*=shareN
/share/b/*=shareB
/share/far/*=shareFar
/share/dis/*=shareR;disabled=r2
`
)

// diffHTTPD is what Apache is told besides, diffJkd what jkd is: the same in
// its own words.
const (
	diffHTTPD = `
ThreadLimit 4
ServerLimit 1
MaxRequestWorkers 4
JkWorkersFile workers.properties
JkShmFile jk.shm
JkLogFile jk.log
JkLogLevel info
JkMountFile uriworkermap.properties
JkMount /jm/* w2
JkUnMount /jm/no/* w2
JkMount /jm/pipe|/* "w3;use_server_errors=500"
JkUnMount /any/unmounted/* *
JkMount /src/* w2
JkMount /src2/* w2
JkMount /twice2/* w1
JkMount /twice2/* w4
<Location /loc/here>
  JkMount w3
</Location>
<Location /env>
  SetEnv JK_REMOTE_ADDR 192.0.2.1
  SetEnv JK_REMOTE_PORT 4711
  SetEnv JK_REMOTE_HOST client.example.test
  SetEnv JK_REMOTE_USER somebody
  SetEnv JK_AUTH_TYPE Basic
  SetEnv JK_LOCAL_NAME name.example.test
  SetEnv JK_LOCAL_ADDR 192.0.2.2
  SetEnv JK_LOCAL_PORT 8443
</Location>
<Location /env/tls>
  SetEnv HTTPS on
  SetEnv SSL_PROTOCOL TLSv1.3
  SetEnv SSL_CIPHER TLS_AES_256_GCM_SHA384
  SetEnv SSL_SESSION_ID 0123456789abcdef
  SetEnv SSL_CIPHER_USEKEYSIZE 256
  SetEnv SSL_CLIENT_CERT "-----BEGIN CERTIFICATE-----"
</Location>
<Location /env/cl>
  SetEnv JK_IGNORE_CL 1
</Location>
<Location /lb/route>
  SetEnv JK_ROUTE n3
</Location>
<Location /lb/env>
  SetEnv JK_STICKY_IGNORE 1
</Location>
<Location /rt/env>
  SetEnv JK_REPLY_TIMEOUT 200
</Location>
<Location /env/empty>
  SetEnv JK_REMOTE_HOST ""
  SetEnv JK_REMOTE_USER ""
  SetEnv JK_LOCAL_NAME ""
  SetEnv JK_AUTH_TYPE ""
</Location>
<Location /named>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME w4
</Location>
<Location /named/unknown>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME nobody
</Location>
<Location /named/ext>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME "w4;use_server_errors=404"
</Location>
<Location /named/lb>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME lb
</Location>
<Location /named/empty>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME ""
</Location>
<Location /any/named>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME w4
</Location>
<Location /any/static/named>
  SetHandler jakarta-servlet
  SetEnv JK_WORKER_NAME w4
</Location>
<Location /any/handled>
  SetHandler jakarta-servlet
</Location>
<Location /handled>
  SetHandler jakarta-servlet
</Location>
SetEnvIf Request_URI ^/any/nojk no-jk
SetEnvIf Request_URI ^/named/nojk no-jk
<VirtualHost 127.0.0.1:@PORT@>
  ServerName main.test:@PORT@
  JkMountCopy On
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName unparsed.test:@PORT@
  JkMountCopy On
  JkOptions +ForwardURICompatUnparsed
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName compat.test:@PORT@
  JkMountCopy On
  JkOptions +ForwardURICompat
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName escaped.test:@PORT@
  JkMountCopy On
  JkOptions +ForwardURIEscaped
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName proxy.test:@PORT@
  JkMountCopy On
  JkOptions +ForwardURIProxy
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName reject.test:@PORT@
  JkMount /any/* w1
  JkMount /slash/* w5
  JkUnMount /any/static/* w1
  JkOptions +RejectUnsafeURI
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName local.test:@PORT@
  JkMountCopy On
  JkOptions +ForwardLocalAddress
  JkEnvVar GIVEN given
  JkEnvVar UNSET
  JkEnvVar EMPTY ""
  JkEnvVar HERE fallback
  SetEnv HERE there
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName own.test
  ServerAlias *.own.test
  JkMount /only/* w4
  JkMount /any/* w5
  JkUnMount /any/static/* w5
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName both.test:@PORT@
  JkMountCopy On
  JkMount /only/* w4
  JkMount /jm/* w5
  AllowEncodedSlashes NoDecode
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
  ServerName none.test:@PORT@
  AllowEncodedSlashes NoDecode
</VirtualHost>
`

	diffJkd = `JkMountFile = uriworkermap.properties
JkMount = /jm/* w2
JkUnMount = /jm/no/* w2
JkMount = /jm/pipe|/* "w3;use_server_errors=500"
JkUnMount = /any/unmounted/* *
JkMount = /src/* w2
JkMount = /src2/* w2
JkMount = /twice2/* w1
JkMount = /twice2/* w4
[location /loc/here]
JkMount = w3
[location /env]
SetEnv = JK_REMOTE_ADDR 192.0.2.1
SetEnv = JK_REMOTE_PORT 4711
SetEnv = JK_REMOTE_HOST client.example.test
SetEnv = JK_REMOTE_USER somebody
SetEnv = JK_AUTH_TYPE Basic
SetEnv = JK_LOCAL_NAME name.example.test
SetEnv = JK_LOCAL_ADDR 192.0.2.2
SetEnv = JK_LOCAL_PORT 8443
[location /env/tls]
SetEnv = HTTPS on
SetEnv = SSL_PROTOCOL TLSv1.3
SetEnv = SSL_CIPHER TLS_AES_256_GCM_SHA384
SetEnv = SSL_SESSION_ID 0123456789abcdef
SetEnv = SSL_CIPHER_USEKEYSIZE 256
SetEnv = SSL_CLIENT_CERT "-----BEGIN CERTIFICATE-----"
[location /env/cl]
SetEnv = JK_IGNORE_CL 1
[location /lb/route]
SetEnv = JK_ROUTE n3
[location /lb/env]
SetEnv = JK_STICKY_IGNORE 1
[location /rt/env]
SetEnv = JK_REPLY_TIMEOUT 200
[location /any/nojk]
SetEnv = no-jk 1
[location /env/empty]
SetEnv = JK_REMOTE_HOST ""
SetEnv = JK_REMOTE_USER ""
SetEnv = JK_LOCAL_NAME ""
SetEnv = JK_AUTH_TYPE ""
[location /named]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME w4
[location /named/unknown]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME nobody
[location /named/ext]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME "w4;use_server_errors=404"
[location /named/lb]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME lb
[location /named/empty]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME ""
[location /any/named]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME w4
[location /any/static/named]
SetHandler = jakarta-servlet
SetEnv = JK_WORKER_NAME w4
[location /any/handled]
SetHandler = jakarta-servlet
[location /handled]
SetHandler = jakarta-servlet
[location /named/nojk]
SetHandler = jakarta-servlet
SetEnv = no-jk 1
[vhost unparsed.test]
JkMountCopy = On
JkOptions = +ForwardURICompatUnparsed
[vhost compat.test]
JkMountCopy = On
JkOptions = +ForwardURICompat
[vhost escaped.test]
JkMountCopy = On
JkOptions = +ForwardURIEscaped
[vhost proxy.test]
JkMountCopy = On
JkOptions = +ForwardURIProxy
[vhost reject.test]
JkMount = /any/* w1
JkMount = /slash/* w5
JkUnMount = /any/static/* w1
JkOptions = +RejectUnsafeURI
[vhost local.test]
JkMountCopy = On
JkOptions = +ForwardLocalAddress
JkEnvVar = GIVEN given
JkEnvVar = UNSET
JkEnvVar = EMPTY ""
JkEnvVar = HERE fallback
SetEnv = HERE there
[vhost own.test]
ServerAlias = *.own.test
JkMount = /only/* w4
JkMount = /any/* w5
JkUnMount = /any/static/* w5
[vhost both.test]
JkMountCopy = On
JkMount = /only/* w4
JkMount = /jm/* w5
[vhost none.test]
`
)
