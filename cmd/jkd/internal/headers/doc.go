// Package headers changes header fields as the configuration says: Header and
// RequestHeader of mod_headers.
//
// An [Edit] is one directive; [Apply] carries out a list of them. What Apache has
// in two tables, of answers that went well and of all, is two lists of edits and of
// fields here: the front applies each to its own and sends both.
package headers
