// Package apachetest starts a private Apache httpd 2.4 with mod_jk for tests
// that compare jkd with it.
//
// It uses the programs of Debian's packages apache2 and libapache2-mod-jk, but
// nothing of their configuration or service: every [Apache] has a directory, a
// port and processes of its own, and leaves none of them behind. Only what
// serving needs is loaded; a test names further modules itself, and writes the
// Jk directives and their files.
//
// It is used by tests only.
package apachetest
