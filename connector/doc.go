// Package connector is the contract between the HTTP front and the modules
// that know back ends.
//
// A [Connector] maps a request to a [Worker] or declines it; a Worker serves a
// [Request] and writes the answer to a [ResponseWriter]; when it cannot, it
// returns an [Error] that says which side failed, which status the client
// should see and whether another back end may be tried.
//
// The package knows neither an HTTP library nor AJP: a second front (HTTP/2)
// or a second back-end protocol meets the others here and nowhere else.
package connector
