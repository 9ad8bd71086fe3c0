// Package apache reads the language of httpd.conf into a tree of directives.
//
// It knows the form of the language and what decides which parts of a file
// count: continued lines, quotes, sections, Include, Define and ${NAME}, and
// the conditional sections IfModule, IfDefine, IfVersion, IfFile, IfDirective
// and IfSection. What the other directives mean is the caller's.
//
// [Read] reports every fault it finds and goes on behind it, so that the first
// one does not hide the second. It opens files through [Options] only, and
// bounds their number, size and depth. Nothing is logged.
package apache
