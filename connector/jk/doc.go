// Package jk is the connector in the style of mod_jk 1.2: workers.properties
// names the back ends, uriworkermap.properties and JkMount say which paths go
// to which of them.
//
// # Reading
//
// [Read] takes the texts that package conf has read and returns the workers as
// a [Config] and the rules as a [URIMap], or every fault of both at once with
// file and line. [ParseProperties] is the language alone, [ParseConfig] adds
// the meaning of the directives, [NewURIMap] that of the rules. None of them
// touches anything but its arguments and, for $(name), the environment.
//
// The language is mod_jk's: name=value, '#' begins a comment anywhere,
// $(name) is replaced by what stands further up or in the environment,
// worker.a.reference=worker.b inherits. It is read more strictly: a number
// that is none, an unknown directive or type, or a line that is too long stops
// the start instead of meaning something else.
//
// # Old and new connection directives
//
// cachesize and cache_timeout are the cache of the first mod_jk versions, which
// keeps idle connections and limits nothing; connection_pool_size and its
// companions are mod_jk 1.2's pool, which bounds them. mod_jk treats the old
// names as aliases of the new; here they select what they once meant: see
// [CacheConfig].
//
// # Mapping
//
// [URIMap.Match] finds the rule for a path: the one with most '/' in its
// pattern, then the longest, then the one from the stronger source; an
// exclusion of that rule's worker takes the request away from it. Patterns are
// compiled into a tree of their literal beginnings, so the number of rules
// hardly counts, and nothing is allocated.
package jk
