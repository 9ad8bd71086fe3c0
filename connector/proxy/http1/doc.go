// Package http1 speaks HTTP/1.1 to a container, from the side of a gateway.
//
//   - [Request] is one request, its head made, its body a stream.
//   - [Conn] is one connection; [Conn.Exchange] carries one request and its
//     answer over it, [Conn.Usable] tells whether an idle one may.
//   - [connector.ExchangeError] tells how an exchange failed and how far it had come.
//
// An answer is read to the letter of RFC 9112 and its head a second time by
// fasthttp: what can be read in two ways is an error, never a choice. All that a
// container sends is bounded. A connection on which anything went wrong, or on
// which more came than one answer, can only be closed.
package http1
