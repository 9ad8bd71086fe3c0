// Package tomcattest starts a private Tomcat 10 for tests.
//
// It uses the files of Debian's packages tomcat10 and tomcat10-examples, but
// nothing of their service: every [Tomcat] has a directory, ports and a
// process of its own, and leaves none of them behind. Besides the packages'
// examples at /examples it serves a small web application at /test, whose
// pages (testdata/webapp) exist to be tested against:
//
//	/test/hello.jsp           a fixed line
//	/test/echo.jsp, /test/echo/*
//	                          the request as the container saw it, see [ParseEcho]
//	/test/test.jsp            a page of exactly [PageSize] bytes
//	/test/big.jsp             ?bytes=N (&chunked=1) bytes, made by [BigBody]
//	/test/sink.jsp            reads a body, answers its length and SHA-256
//	/test/session.jsp         counts the visits of a session
//	/test/status.jsp?code=N   an empty answer with that status
//	/test/error.jsp           throws
//	/test/redirect.jsp        redirects to hello.jsp
//	/test/cookies.jsp         two Set-Cookie fields
//	/test/header.jsp?size=N   a field X-Big of N bytes
//	/test/sse.jsp?id=X&n=N    N server-sent events; each but the first only
//	                          after a request for /test/release.jsp?id=X
//	/test/waiting.jsp?id=X    how many requests wait for a release of X
//	/test/node/*?session=1    which container answers, and its session: see
//	                          [ParseNode]; without session=1 none is begun
//	/test/node/*?cmd=close    further requests wait until cmd=open; both, and
//	                          cmd=state, answer how many wait and how many have
//	                          come: see [ParseNodeState]
//
// It is used by tests only.
package tomcattest
