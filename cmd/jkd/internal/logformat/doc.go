// Package logformat is the language of Apache's LogFormat: it reads a format
// once and then writes the line of a request without allocating.
//
// What a client or a back end has sent is escaped on its way into a line, so
// that nobody can end a line, or a quoted text, that is not his. What there is
// nothing to say about is "-".
//
// Directives: %% %a %A %b %B %{NAME}C %D %{NAME}e %f %h %H %{NAME}i %I %k %l
// %L %m %{NAME}n %{NAME}o %O %p %{canonical|local|remote}p %P %q %r %R %s %S
// %t %{...}t %T %{s|ms|us}T %u %U %v %V %{NAME}x %X %^FB, all of them with
// Apache's conditions on the status (%400,501{User-agent}i, %!200{Referer}i)
// and '<' and '>', which mean nothing here: there are no internal redirects.
// %f, %l and %L are always "-".
package logformat
