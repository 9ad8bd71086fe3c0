// Package headers changes header fields as the configuration says: Header and
// RequestHeader of mod_headers.
//
// An [Edit] is one directive; [Apply] carries out a list of them. What Apache has
// in two tables, of answers that went well and of all, is two lists here: the
// front applies those with Always to a list of their own and sends both.
package headers
