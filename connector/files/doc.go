// Package files serves files: JkAutoAlias, Alias, AliasMatch and DocumentRoot.
//
// A request is mapped to a place, a directory or single file of a server, and to
// a name in it. What counts there is put together of the sections [directory],
// [files] and [location]; what can be known before any request is found out at
// the start. Directories lead to their index, which is another path that may
// belong to another connector, or are listed.
//
// Answers have what browsers and caches ask for: HEAD, byte ranges (several
// too), If-Modified-Since, If-None-Match, If-Range and the others, ETag and
// Last-Modified, Content-Type by the name's extension. The standard library
// decides all that (http.ServeContent); files go piece by piece, or by the
// kernel, whatever their size.
//
// Nothing outside of a place can be reached: symbolic links are followed only
// where they stay inside (os.Root). Only regular files are opened, never a FIFO
// or a device. WEB-INF and META-INF, sources of JSPs and Apache's own files
// (.htaccess) are for nobody.
package files
