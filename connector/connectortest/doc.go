// Package connectortest is what every connector that speaks AJP13 must do,
// whatever its configuration looks like: one suite, run over each of them, so
// that a fault they could share is found once.
package connectortest
