// Package files serves files: what belongs to a web application but needs no
// container.
//
// [Serve] answers a request with a file below a directory; it is all that a
// connector needs that maps paths to files, such as [AutoAlias], mod_jk's
// JkAutoAlias:
//
//	return files.Serve("/srv/www", "css/site.css", r, w)
//
// Answers have what browsers and caches ask for: HEAD, byte ranges (several
// too), If-Modified-Since, If-None-Match, If-Range and the others, ETag and
// Last-Modified, Content-Type by the name's extension. Directories are not
// listed. Files are sent piece by piece, whatever their size.
//
// Nothing outside of the directory can be reached: symbolic links are followed
// only where they stay inside (os.Root). Only regular files are opened, never
// a FIFO or a device. The directory is looked up anew for each request, so it
// may be replaced while jkd runs.
package files
