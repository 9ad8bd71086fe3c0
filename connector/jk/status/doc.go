// Package status is mod_jk's status worker: pages that show what the balancers
// and back ends do, as HTML for people and as XML, text and properties for
// scripts, and that change it. It knows none of the connector's insides: it
// shows a [View] and acts through a [Control].
//
//   - [Serve] answers a request, [Input], with an [Output]; [Config] has the
//     directives of the worker.
//   - [ParseQuery] reads the parameters; [Cmd], [Mime], [Options].
//   - [Attribute], [Change]: what an update changes.
//
// # For scripts
//
// Names and order of attributes are mod_jk's and do not change. What differs
// from mod_jk does so for a reason:
//
//   - A command that changes something, update, reset or recover, must be sent by
//     POST, and by no page of another site, or have the parameter token with the
//     digits that the forms of the pages have. Otherwise a link, or a picture in
//     a letter, could take a back end out of service. With allow_get_update a
//     script may send a GET as it does to mod_jk; a browser still may not when
//     another site makes it.
//   - What is refused is answered with 403, not 200. Every other error is in a
//     document with status 200: type="ERROR" in the element result, the same in
//     the line Result, and PREFIX.result.type in properties.
//   - In properties every key of a member begins with the name of the member, and
//     no key contains a blank. (The last six keys of a member begin with the
//     name of its balancer in mod_jk, and two are called "error_time_unix
//     seconds" and "error_time_ago seconds".) Characters that end a key are
//     shown as '_', and a backslash in a value is doubled.
//   - A method or lock that an update does not know changes nothing; mod_jk takes
//     Request and Optimistic.
//   - transferred and read do not count pings, max_connected after a reset is what
//     is connected, and sticky_session is True or False also in the log.
//   - Text is UTF-8. Control characters, and whatever else could make one line
//     look like two or hide a part of it, are shown as '?' in text and properties
//     and as U+FFFD in XML and HTML. In text a value that is not one word is put
//     between double quotes, within which '"' and '\' follow a '\'.
//   - Parameters are taken as they are, and made harmless where they are shown;
//     mod_jk turns < > ? and " into @.
//   - No secret is shown, nor a line of the configuration that repeats one.
//   - vls=0 and vlf=0 are sent by the form when its box is not ticked, so that
//     unticking works. vamps works on any back end.
//   - The page's forms send with each value what it was, as ovwa for vwa: what
//     was not touched stays as it is, whoever changed it meanwhile. Scripts need
//     not.
//   - A route that another member of the balancer has is an error, and so are
//     characters in texts that would break a cookie.
package status
