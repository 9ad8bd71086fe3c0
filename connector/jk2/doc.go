// Package jk2 is the connector in the style of mod_jk2: workers2.properties
// names components, among them the containers, the balancers and the paths that
// go to them.
//
// # Reading
//
// [ParseConfig] takes the text of workers2.properties and the settings that
// were given one by one (JkSet, JkUriSet) and returns all components as a
// [Config], or every fault at once with file and line. It touches nothing but
// its arguments and, for ${name}, the environment.
//
// The language is mod_jk2's: [type:local name] begins a component, '#' begins a
// comment anywhere, ${name} is replaced by what stands further up or in the
// environment. A channel makes its worker, a worker joins its balancers, and
// lb:lb is where workers without group and uris without group meet.
//
// # Mapping
//
// [NewMapper] makes the uris of a Config a [Mapper], which finds the one that a
// request is for.
//
// # Balancing and shared memory
//
// Package lb decides which worker serves a request, package jk2shm is the file
// that tells other programs what the endpoints do, package board is how
// processes learn of a new configuration.
//
// # Differences from mod_jk2
//
//	in the file                  mod_jk2                         here
//	header without ']'           the server crashes              a fault
//	line of more than 1023 bytes read as two lines               whole, up to conf.MaxLine
//	blanks around '='            part of key and value           removed
//	unknown kind of component    logged, skipped                 a fault
//	unknown property             logged, skipped                 a warning
//	a word for a number or flag  0                               a fault
//	section given twice          lists are doubled               one component
//	vm, *.jni                    the container in the server     a fault unless disabled=1
//	[status], [lb]               get a number for a name         [status:], [lb:lb]
//	ajp13 without channel        every request fails             a fault; channel= is heeded
//	port= without host=          never counts                    counts if the name has no port
//	channel.un, listen           waits for a connection          a fault
//	group of a uri is unknown    500 for each request            a fault; a status is made
//	uri with disabled=1          is mapped                       maps nothing
//	alias without port           never matches                   matches any port
//	/a* and the path "/" + "a"   also matches the path "/"       matches "/a" only
//	regular expressions          PCRE's POSIX functions          RE2: no references back
//	rules of host "*"            exact and prefix are inherited  all are, by hosts that do not
//	                                                             say inheritGlobals=0
//	paths are compared           as they came                    as connector.CleanPath leaves them
//	shm, size                    of the file (2.0.2)             follows from slots
//	Location without JkUriSet    goes to lb:lb                   is nobody's
//	a secret                     a variable like others          not to be had by ${name}
//	sslEnable, nodelay           off                             on, whatever they say
//	debug                        says more in the log            is shown only; the logger's level does
//
//	at run time                  mod_jk2                         here
//	max_connections reached      500, the worker is in error     503, a line in the log, no error
//	a dead idle connection       found out by using it           looked at before it is used
//	END_RESPONSE without reuse   ignored, fails on the next use  the connection is closed
//	connect and CPING            no limit of time                timeout, connectTimeout,
//	                                                             prepostTimeout, or 5 s
//	replyTimeout                 no effect                       the wait for each packet of an answer
//	timeout of a channel is over the request is sent again       504, it is not
//	container down, no balancer  500                             503
//	client leaves                the request is sent again       it is not
//	request sent, then lost      sent again, POST too            GET and HEAD only
//	noRecoveryIfHeaderSent       see there                       always
//	the path                     decoded (forwardURICompat)      as the client sent it, unless one of
//	                                                             the forms is given; a path that it
//	                                                             would make another one of: 400
//	a disabled worker            gets its sessions still         gets nothing
//	a Unix socket that hangs     for ever                        TimeOut for what is sent to it
//	secretkey                    login, then attribute 12        attribute 12
//	reload                       each child reads the file       the master does, for all
//	                             new uris are not mapped         they are
//	                             an error stops half way         the old configuration stays
//	set= on the status page      rewrites the file               does not
//	                             by GET                          by a form, or with the token
//
// What package lb does differently is in its documentation, and so it is with
// jk2shm and status.
//
// # Defects of mod_jk2
//
// What has become of what is known to be wrong there:
//
//	epStat.1 finds epStat.10                 child n has slot n, nothing is looked up
//	more than 63 records overwrite the next  the others are not counted there, and the log
//	slot                                     says so once
//	two children get one slot                slots are not asked for
//	the cache loses what is beyond 64        a list that grows
//	endpoints of two workers share a record  one count for all of them, under a lock
//	a client that leaves makes it send the   nothing is the container's fault then
//	request again
//	an error closes the connections of       only the one that failed; after one that was
//	others                                   dead when it was taken also those that lie idle
//	max_connections puts the worker in       it does not
//	error
//	the container's reuse flag is ignored    obeyed
//	a header that was not read is parsed     an error of reading ends the exchange
//	a process that is not found takes its    its place in the scoreboard is given to it
//	pid for its number
//	disabled workers get sessions            graceful is for that
//	names of hosts are kept without bound    nothing is kept of them
//	sockets are never freed                  closed where they are given up
//	inv= does the opposite                   what it says
//	a disabled worker is destroyed by each   its idle connections are closed, if it has any
//	reload
//	patterns are not inherited by hosts      all rules are: no source of a page is served as
//	                                         a file of a named host
//	the status page has no access control    changes need a POST of its own site or the
//	and obeys any GET                        token, and no file is written; who may see it
//	                                         is a matter of the host and path it is at
//
// # Differences from connector/jk
//
//	                             jk                              jk2
//	connections kept             cachesize, cache_timeout, pool  all, for ever, last in first out
//	at the limit                 the request waits for a turn    it is refused at once
//	limit counts                 a process; max_connections all  a process
//	idle connections             closed and pinged in time       never
//	balancer's state             shared by all processes         each process has its own
//	weight                       lbfactor: more requests         lb_factor: fewer
//	stand-by                     distance, redirect, domain      level, routeRedirect
//	draining                     activation D and S              graceful, disabled
//	mapping                      most specific pattern           host, context, then the kind of rule
//	a wait that is too long      GET and HEAD are sent again     nothing is (timeout)
//	                             (socket_timeout)
//	an error without a body      gets a page of the front        is passed on as it is
//	names of back ends           are asked for by the master     by each process
//	seen by other programs       no                              jk2.shm
//
// Both pass the suite of package connectortest. Beside each other the most
// specific rule wins, and of equal ones that of jk.
package jk2
