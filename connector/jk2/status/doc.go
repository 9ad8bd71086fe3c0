// Package status is the status page of mod_jk2 (/jkstatus): what it shows and
// how it is asked, over a plain model of the components. There is no connector
// and no I/O in it.
//
// Without a query it is a page with the components of the process that
// answers, and the records that all processes keep in jk2.shm. The queries of
// mod_jk2 are there: cfgOrig=1, cfgParsed=1, scoreboard=1, endpoints=1,
// scoreboard.reset, rld=1, lst=, dmp= and qry=PATTERN, get=NAME|ATTR,
// set=NAME|ATTR|VALUE, inv=NAME|destroy. PATTERN is a name, a prefix with "*"
// behind it, or "*". Values may be percent-encoded.
//
// mime=json gives all of the page as one JSON object, see [Document].
//
// # Differences from mod_jk2
//
//   - What changes anything (set, inv, rld, scoreboard.reset) must be a POST that
//     no other site has sent, or name the token that the page shows. There, any
//     link did it.
//   - set does not write the configuration file, which is the administrator's. It
//     holds until the end of jkd, or until the file has another ver for the
//     component.
//   - A query is percent-decoded. set from a form answers the page.
//   - Of a channel.un neither soLinger nor listen is shown: they do nothing.
//   - dmp, lst and qry list the records of all slots; mod_jk2 leaves out the
//     first one.
package status
