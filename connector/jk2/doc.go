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
//
//	at run time                  mod_jk2                         here
//	max_connections reached      500, the worker is in error     503, a line in the log, no error
//	a dead idle connection       found out by using it           looked at before it is used
//	END_RESPONSE without reuse   ignored, fails on the next use  the connection is closed
//	connect and CPING            no limit of time                timeout, connectTimeout,
//	                                                             prepostTimeout, or 5 s
//	replyTimeout                 no effect                       the wait for each packet of an answer
//	container down, no balancer  500                             503
//	client leaves                the request is sent again       it is not
//	request sent, then lost      sent again, POST too            GET and HEAD only
//	noRecoveryIfHeaderSent       see there                       always
//	the path                     decoded (forwardURICompat)      as the client sent it
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
//	seen by other programs       no                              jk2.shm
//
// Both pass the suite of package connectortest. Beside each other the most
// specific rule wins, and of equal ones that of jk.
package jk2
