// Package users checks names and passwords against the lines of an
// AuthUserFile, which Apache's htpasswd writes. Forms are bcrypt (htpasswd -B),
// apr1 and MD5 (-m), crypt with SHA-256 and SHA-512 (-2, -5) and SHA-1 (-s). Plain
// text and crypt's old form are refused.
package users
