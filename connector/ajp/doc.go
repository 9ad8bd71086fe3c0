// Package ajp speaks AJP13, the protocol between a web server and a servlet
// container, from the web server's side.
//
//   - [Forward] is one request as packets: FORWARD_REQUEST and, when the length
//     of the body is known, the first body packet that goes with it unasked.
//   - [Conn] is one connection to a container; [Conn.Exchange] carries one
//     request and its answer over it, [Conn.CPing] asks whether anybody is
//     there, [Conn.Usable] whether an idle connection may carry a request.
//   - [State] is where a connection stands.
//   - [connector.ExchangeError] tells how an exchange failed and how far it had come,
//     [ProtocolError] how the container broke the rules, [TooLongError] that
//     a request does not fit a packet.
//
// Everything a container sends is checked against the length of its packet
// before it is used. A connection on which anything went wrong is Broken and
// can only be closed: leftovers of one answer can never become the beginning
// of another one.
package ajp
