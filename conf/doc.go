// Package conf turns jkd.conf into checked values.
//
// The file is ini text whose keys are Apache's directive names:
//
//	[server]
//	Listen = 8080
//	MPM = worker
//
//	[mpm.worker]
//	ThreadsPerChild = 50
//
//	[connector.jk]
//	JkWorkersFile = workers.properties
//	JkMount = /examples/* ajp13
//
// Names of sections and directives are compared without regard to case. A
// comment is a line that begins with '#' or ';'; there are none after a value,
// because rules of the connectors contain both characters. Lines are never
// continued and values never refer to one another.
//
// A file whose first line is neither a [section] nor "key = value" is in the
// language of Apache's httpd.conf: package conf/apache reads it into a tree, and
// httpd*.go turn that into the sections above, which the same tables then read,
// so that both languages mean the same. [Dump] prints those sections.
//
// [Load] reads the file and the connector files it names, and returns either a
// [Config] or every fault found, as [Errors]: nothing is guessed and the first
// fault does not hide the second. What Apache corrects is corrected, and said
// as a [Warning]: [Config.Correct].
//
// Sections [vhost NAME], [vhost NAME:PORT], [location PATH] and
// [location VHOST PATH] are Apache's <VirtualHost> and <Location>. They need
// not stand in any order: what they inherit, and which of them belong
// together, is settled when the whole file has been read, so that a Config
// holds for each virtual host the values that count there.
//
// Section [status] says where the state of the server is shown and to whom. Its
// Require takes addresses and Apache's forms "ip ...", "local", "all granted"
// and "all denied"; an address and, with AuthUserFile, a user are both needed.
//
// The reading has two layers. [Sections] knows lines, sections and pairs, and
// no directive; the tables in directive_*.go know the directives. A Config is
// a plain struct of values, the contents of the connector files included, so
// that a child process gets it whole by [Config.Encode] and [Decode] and opens
// no file of its own.
package conf
