package logformat

// The formats that Apache's own configuration files give a nickname. combined
// and common are what [jkd/conf] has under these names too.
const (
	Common      = `%h %l %u %t "%r" %>s %b`
	Combined    = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	VHostCommon = `%v %h %l %u %t "%r" %>s %b`
	CombinedIO  = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %I %O`
	Referer     = `%{Referer}i -> %U`
	Agent       = `%{User-Agent}i`
)
