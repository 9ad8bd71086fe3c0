package files

import (
	"path"
	"strings"
)

// typeOf is the Content-Type of a file by its extension, whose case does not
// matter. It names no character set: a page, style sheet or document says so
// itself, and what the server says would override it. What is not known is a
// stream of bytes, which no browser takes for a page.
func typeOf(name string) string {
	ext := path.Ext(name)
	if t, ok := types[strings.ToLower(strings.TrimPrefix(ext, "."))]; ok && ext != "" {
		return t
	}
	return "application/octet-stream"
}

// types is a table of our own: what a system has in its files differs from one
// to the next.
var types = map[string]string{
	"7z":          "application/x-7z-compressed",
	"aac":         "audio/aac",
	"atom":        "application/atom+xml",
	"avi":         "video/x-msvideo",
	"avif":        "image/avif",
	"bmp":         "image/bmp",
	"bz2":         "application/x-bzip2",
	"css":         "text/css",
	"csv":         "text/csv",
	"doc":         "application/msword",
	"docx":        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"dtd":         "application/xml-dtd",
	"eot":         "application/vnd.ms-fontobject",
	"eps":         "application/postscript",
	"epub":        "application/epub+zip",
	"flac":        "audio/flac",
	"geojson":     "application/geo+json",
	"gif":         "image/gif",
	"gz":          "application/gzip",
	"htm":         "text/html",
	"html":        "text/html",
	"ico":         "image/x-icon",
	"ics":         "text/calendar",
	"jar":         "application/java-archive",
	"jnlp":        "application/x-java-jnlp-file",
	"jpe":         "image/jpeg",
	"jpeg":        "image/jpeg",
	"jpg":         "image/jpeg",
	"js":          "text/javascript",
	"json":        "application/json",
	"jsonld":      "application/ld+json",
	"jxl":         "image/jxl",
	"kml":         "application/vnd.google-earth.kml+xml",
	"m4a":         "audio/mp4",
	"m4v":         "video/mp4",
	"map":         "application/json",
	"md":          "text/markdown",
	"mid":         "audio/midi",
	"midi":        "audio/midi",
	"mjs":         "text/javascript",
	"mov":         "video/quicktime",
	"mp3":         "audio/mpeg",
	"mp4":         "video/mp4",
	"mpeg":        "video/mpeg",
	"mpg":         "video/mpeg",
	"odp":         "application/vnd.oasis.opendocument.presentation",
	"ods":         "application/vnd.oasis.opendocument.spreadsheet",
	"odt":         "application/vnd.oasis.opendocument.text",
	"oga":         "audio/ogg",
	"ogg":         "audio/ogg",
	"ogv":         "video/ogg",
	"opus":        "audio/ogg",
	"otf":         "font/otf",
	"pdf":         "application/pdf",
	"png":         "image/png",
	"ppt":         "application/vnd.ms-powerpoint",
	"pptx":        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"ps":          "application/postscript",
	"rss":         "application/rss+xml",
	"rtf":         "application/rtf",
	"svg":         "image/svg+xml",
	"svgz":        "image/svg+xml",
	"tar":         "application/x-tar",
	"tgz":         "application/gzip",
	"tif":         "image/tiff",
	"tiff":        "image/tiff",
	"ttf":         "font/ttf",
	"txt":         "text/plain",
	"vcf":         "text/vcard",
	"vtt":         "text/vtt",
	"wasm":        "application/wasm",
	"wav":         "audio/wav",
	"weba":        "audio/webm",
	"webm":        "video/webm",
	"webmanifest": "application/manifest+json",
	"webp":        "image/webp",
	"wmv":         "video/x-ms-wmv",
	"woff":        "font/woff",
	"woff2":       "font/woff2",
	"xhtml":       "application/xhtml+xml",
	"xls":         "application/vnd.ms-excel",
	"xlsx":        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"xml":         "application/xml",
	"xsd":         "application/xml",
	"xsl":         "application/xml",
	"xslt":        "application/xslt+xml",
	"xz":          "application/x-xz",
	"zip":         "application/zip",
	"zst":         "application/zstd",
}
