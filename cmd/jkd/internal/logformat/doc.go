// Package logformat is the language of Apache's LogFormat, and what mod_jk has
// of it: it reads a format once and then writes the line of a request without
// allocating.
//
//   - [Parse]: LogFormat of Apache 2.4 (mod_log_config, mod_logio);
//   - [ParseRequest]: mod_jk's JkRequestLogFormat;
//   - [ParseStamp]: mod_jk's JkLogStampFormat, strftime in the C locale.
//
// What a client or a back end has sent is escaped on its way into a line as
// Apache does it, so that nobody can end a line, or a quoted text, that is not
// his. What there is nothing to say about is "-"; what is there and empty is
// nothing. Passwords in a request line are not written.
//
// Directives of LogFormat: %% %a %A %b %B %{NAME}C %D %{NAME}e %f %h %H
// %{NAME}i %I %k %l %L %m %{NAME}n %{NAME}o %O %p %{canonical|local|remote}p
// %P %q %r %R %s %S %t %{...}t %T %{s|ms|us}T %u %U %v %V %{NAME}x %X %^FB
// %{NAME}^ti %{NAME}^to, all of them with Apache's conditions on the status
// (%400,501{User-agent}i, %!200{Referer}i) and '<' and '>', which mean nothing
// here: there are no internal redirects. %f, %l, %{c}L and trailers are always
// "-"; so is %L where requests have no id.
//
// What Apache does and this package does not, on purpose:
//
//   - it takes any argument in braces, and directives that lack one; here both
//     are errors, for what is logged then is not what was wanted;
//   - it puts several Cookie fields together with commas, and then finds no
//     cookie at the seams; here each field is searched;
//   - it leaves parameters in the %U of a path that is not mapped; here, as in
//     Apache with mod_jk of a path that is, there are none;
//   - it writes all Set-Cookie fields of an answer as a list; here the first.
package logformat
