package ajp

import (
	"errors"
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// answer is a whole answer with status 200 and reuse.
func answer(body string) []byte {
	b := ajptest.SendHeaders(200, "200")
	if body != "" {
		b = append(b, ajptest.Chunks([]byte(body), DefaultPacketSize)...)
	}
	return append(b, ajptest.End(true)...)
}

var pong = ajptest.CPong()

func TestDecodeHead(t *testing.T) {
	for _, tt := range []struct {
		name    string
		payload string // after the code
		want    string // "status; name: value; ..." or "!fault"
		dropped string
	}{
		{"smallest", `00C8 0002 "OK" 00 0000`, "200", ""},
		{"null message", `00C8 FFFF 0000`, "200", ""},
		{"empty message", `012B 0000 00 0000`, "299", ""},
		{"message with line end", `00C8 0004 "a" 0D0A "b" 00 0000`, "200", ""},
		{"number as message", `0194 0003 "404" 00 0000`, "404", ""},
		{"largest status", `03E7 FFFF 0000`, "999", ""},
		{"smallest status", `0064 FFFF 0000`, "100", ""},
		{"status 0", `0000 FFFF 0000`, "!status out of range", ""},
		{"status 99", `0063 FFFF 0000`, "!status out of range", ""},
		{"status 1000", `03E8 FFFF 0000`, "!status out of range", ""},
		{"status FFFF", `FFFF FFFF 0000`, "!status out of range", ""},
		{"all codes", `00C8 FFFF 000B A001 0001 "1" 00 A002 0001 "2" 00 A003 0001 "3" 00 A004 0001 "4" 00 A005 0001 "5" 00 A006 0001 "6" 00
			A007 0001 "7" 00 A008 0001 "8" 00 A009 0001 "9" 00 A00A 0001 "a" 00 A00B 0001 "b" 00`,
			"200; Content-Type: 1; Content-Language: 2; Content-Length: 3; Date: 4; Last-Modified: 5; Location: 6; Set-Cookie: 7; " +
				"Set-Cookie2: 8; Servlet-Engine: 9; Status: a; WWW-Authenticate: b", ""},
		{"code A000", `00C8 FFFF 0001 A000 0001 "x" 00`, "!unknown header code", ""},
		{"code A00C", `00C8 FFFF 0001 A00C 0001 "x" 00`, "!unknown header code", ""},
		{"code A0FF", `00C8 FFFF 0001 A0FF 0001 "x" 00`, "!unknown header code", ""},
		{"string names, spelling kept, order kept", `00C8 FFFF 0004 A007 0001 "a" 00 000A "set-cookie" 00 0001 "b" 00 A007 0001 "c" 00 0001 "X" 00 0000 00`,
			"200; Set-Cookie: a; set-cookie: b; Set-Cookie: c; X: ", ""},
		{"tab and bytes above ASCII", `00C8 FFFF 0001 0001 "X" 00 0003 "a" 09 E4 00`, "200; X: a\t\xe4", ""},
		{"name with a blank", `00C8 FFFF 0002 0008 "bad name" 00 0001 "x" 00 0001 "Y" 00 0001 "y" 00`, "200; Y: y", "bad name"},
		{"name with a colon", `00C8 FFFF 0001 0003 "a:b" 00 0000 00`, "200", "a:b"},
		{"name with a line end", `00C8 FFFF 0001 0003 "a" 0D0A 00 0000 00`, "200", "a\r\n"},
		{"empty name", `00C8 FFFF 0001 0000 00 0001 "x" 00`, "200", ""},
		{"value with CR LF", `00C8 FFFF 0002 0001 "X" 00 0006 "a" 0D0A "y:z" 00 0001 "Y" 00 0000 00`, "200; Y: ", "X"},
		{"value with CR", `00C8 FFFF 0001 A001 0002 "a" 0D 00`, "200", "Content-Type"},
		{"value with LF", `00C8 FFFF 0001 A007 0002 0A "a" 00`, "200", "Set-Cookie"},
		{"value with NUL", `00C8 FFFF 0001 0001 "X" 00 0003 "a" 00 "b" 00`, "200", "X"},
		{"Location with CR LF", `012E FFFF 0001 A006 0006 "/" 0D0A "x:y" 00`, "!control byte in Location", ""},
		{"Location as string with NUL", `012E FFFF 0001 0008 "LOCATION" 00 0002 "/" 00 00`, "!control byte in Location", ""},
		{"null name", `00C8 FFFF 0001 FFFF 0001 "x" 00`, "!null header name", ""},
		{"null value", `00C8 FFFF 0001 A001 FFFF 00`, "!null header value", ""},
		{"nothing", ``, "!packet ends inside an integer", ""},
		{"half a status", `00`, "!packet ends inside an integer", ""},
		{"no message", `00C8`, "!packet ends inside an integer", ""},
		{"no count", `00C8 FFFF`, "!packet ends inside an integer", ""},
		{"half a count", `00C8 FFFF 00`, "!packet ends inside an integer", ""},
		{"count without headers", `00C8 FFFF 0001`, "!more headers announced than the packet can hold", ""},
		{"count too large by one", `00C8 FFFF 0002 A001 0001 "x" 00`, "!more headers announced than the packet can hold", ""},
		{"count FFFF", `00C8 FFFF FFFF A001 0001 "x" 00`, "!more headers announced than the packet can hold", ""},
		{"second header missing", `00C8 FFFF 0002 A001 0005 "abcde" 00`, "!packet ends inside an integer", ""},
		{"message past the end", `00C8 0100 "OK" 00 0000`, "!string runs past the end of the packet", ""},
		{"message of FFFE", `00C8 FFFE "OK" 00 0000`, "!string runs past the end of the packet", ""},
		{"message without its zero", `00C8 0002 "OK!" 0000`, "!string without its terminating zero", ""},
		{"message ends the packet before its zero", `00C8 0002 "OK"`, "!string runs past the end of the packet", ""},
		{"name past the end", `00C8 FFFF 0001 4000 "Name" 00 0001 "x" 00`, "!string runs past the end of the packet", ""},
		{"name of 9FFF", `00C8 FFFF 0001 9FFF "Name" 00 0001 "x" 00`, "!string runs past the end of the packet", ""},
		{"name of A100", `00C8 FFFF 0001 A100 "Name" 00 0001 "x" 00`, "!string runs past the end of the packet", ""},
		{"value past the end", `00C8 FFFF 0001 A001 0005 "text" 00`, "!string runs past the end of the packet", ""},
		{"value without its zero", `00C8 FFFF 0001 A001 0004 "text!"`, "!string without its terminating zero", ""},
		{"value missing", `00C8 FFFF 0001 0003 "abc" 00`, "!packet ends inside an integer", ""},
		{"more behind", `00C8 FFFF 0000 "junk"`, "200", ""},
	} {
		var h Head
		// What an earlier answer left must not show.
		h.Status, h.Fields, h.Dropped = 500, fields("Old", "x"), [][]byte{[]byte("old")}
		// The bytes behind the packet in the buffer must not be looked at.
		b := append(bytesOf(tt.payload), `zzzzzzzz`...)
		payload := b[: len(b)-8 : len(b)]
		err := decodeHead(payload, &h)
		if fault, bad := strings.CutPrefix(tt.want, "!"); bad {
			var pe *ProtocolError
			if !errors.As(err, &pe) || pe.Fault != "SEND_HEADERS: "+fault {
				t.Errorf("%s: %v, want %s", tt.name, err, fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		w := &recorder{}
		_ = w.Start(h.Status, h.Fields)
		if got := strings.ReplaceAll(strings.TrimSuffix(w.head(), "\n"), "\n", "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		var dropped []string
		for _, d := range h.Dropped {
			dropped = append(dropped, string(d))
		}
		if got := strings.Join(dropped, ","); got != tt.dropped {
			t.Errorf("%s: dropped %q, want %q", tt.name, got, tt.dropped)
		}
	}
}

func TestChunk(t *testing.T) {
	for _, tt := range []struct{ payload, want string }{
		{`03 0005 "hello" 00`, "hello"}, {`03 0005 "hello"`, "hello"}, {`03 0005 "hello" 4142`, "hello"},
		{`03 0000`, ""}, {`03 0000 00`, ""}, {`03 0002 00 00 00`, "\x00\x00"},
		{`03`, "!short"}, {`03 00`, "!short"}, {`03 0001`, "!longer"}, {`03 0006 "hello"`, "!longer"}, {`03 FFFF "hello" 00`, "!longer"},
	} {
		data, fault := chunk(bytesOf(tt.payload))
		if want, bad := strings.CutPrefix(tt.want, "!"); bad {
			if !strings.Contains(fault, want) {
				t.Errorf("%s: %q", tt.payload, fault)
			}
		} else if fault != "" || string(data) != tt.want {
			t.Errorf("%s: %q, %q", tt.payload, data, fault)
		}
	}
}

func TestIsFlush(t *testing.T) {
	for payload, want := range map[string]bool{
		`03 0000`: true, `03 0000 00`: true, `03 0000 01`: false, `03 0000 00 00`: false,
		`03 0001 00`: false, `03 00`: false, `03`: false, ``: false, `05 0000`: false, `03 0100 00`: false,
	} {
		if isFlush(bytesOf(payload)) != want {
			t.Errorf("%q: %v", payload, !want)
		}
	}
}
