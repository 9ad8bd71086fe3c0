package ajptest

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

//go:embed testdata/captures/*.txt
var captureFiles embed.FS

// CapturedPacket is one packet of a recorded exchange.
type CapturedPacket struct {
	// Front tells the direction: true for f>b.
	Front bool
	// Size is the whole packet's length. If the file shows it shortened, Head
	// and Tail are its first and last bytes; otherwise Head is all of it.
	Size       int
	Head, Tail []byte
}

// Whole tells whether the packet is shown whole.
func (p CapturedPacket) Whole() bool { return len(p.Head) == p.Size }

// Capture is a recorded exchange between another front end and Tomcat 10.1.
type Capture struct {
	Name   string // "mod_jk-get"
	Front  string // "mod_jk" or "mod_proxy_ajp"
	Method string // of the client's request
	Target string
	// Status and BodyBytes are what the client got.
	Status    int
	BodyBytes int
	// Packets is empty if the front end refused the request itself.
	Packets []CapturedPacket
}

// Forward returns the FORWARD_REQUEST packet, a zero value if there is none.
func (c *Capture) Forward() CapturedPacket {
	for _, p := range c.Packets {
		if p.Front && len(p.Head) > 4 && p.Head[4] == CodeForward {
			return p
		}
	}
	return CapturedPacket{}
}

// Captures returns all recorded exchanges in order of name. They are embedded,
// so that other packages' tests can use them. It panics if one doesn't parse.
func Captures() []*Capture {
	const dir = "testdata/captures"
	entries, err := captureFiles.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	var all []*Capture
	for _, e := range entries {
		f, err := captureFiles.Open(path.Join(dir, e.Name()))
		if err != nil {
			panic(err)
		}
		c, err := ReadCapture(strings.TrimSuffix(e.Name(), ".txt"), f)
		f.Close()
		if err != nil {
			panic(err)
		}
		all = append(all, c)
	}
	return all
}

// FindCapture returns the recorded exchange of that name; it panics if there
// is none.
func FindCapture(name string) *Capture {
	for _, c := range Captures() {
		if c.Name == name {
			return c
		}
	}
	panic("ajptest: no capture " + name)
}

// ReadCapture reads the text form of an exchange: comment lines that name
// the front, the request and what the client saw; then for each packet a line
// with direction (> for f>b), size, and perhaps what is shown of it, and lines
// of hex, with "..." between head and tail.
func ReadCapture(name string, r io.Reader) (*Capture, error) {
	c := &Capture{Name: name}
	s := bufio.NewScanner(r)
	var cur *packetText
	for line := 1; s.Scan(); line++ {
		text := strings.TrimSpace(s.Text())
		var err error
		switch {
		case text == "":
		case text[0] == '#':
			err = c.comment(strings.TrimSpace(text[1:]))
		case text[0] == '>' || text[0] == '<':
			if err = c.add(cur); err == nil {
				cur, err = parsePacketLine(text)
			}
		case cur == nil:
			err = fmt.Errorf("bytes before the first packet")
		default:
			err = cur.bytes(text)
		}
		if err != nil {
			return nil, fmt.Errorf("ajptest: capture %s, line %d: %w", name, line, err)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("ajptest: capture %s: %w", name, err)
	}
	if err := c.add(cur); err != nil {
		return nil, fmt.Errorf("ajptest: capture %s, last packet: %w", name, err)
	}
	if c.Front == "" {
		return nil, fmt.Errorf("ajptest: capture %s: no request line", name)
	}
	return c, nil
}

func (c *Capture) comment(text string) error {
	if n, err := fmt.Sscanf(text, "client saw: %d, %d body bytes", &c.Status, &c.BodyBytes); n > 0 && err != nil {
		return err
	}
	front, request, ok := strings.Cut(text, ": ")
	method, target, ok2 := strings.Cut(request, " ")
	if c.Front == "" && ok && ok2 {
		c.Front, c.Method, c.Target = front, method, target
	}
	return nil
}

// packetText is a packet while its lines are read.
type packetText struct {
	p          CapturedPacket
	head, tail int // number of bytes the file says it shows
	inTail     bool
}

func parsePacketLine(text string) (*packetText, error) {
	t := &packetText{p: CapturedPacket{Front: text[0] == '>'}}
	size, rest, _ := strings.Cut(strings.TrimSpace(text[1:]), " bytes")
	n, err := strconv.Atoi(size)
	if err != nil || n < 4 || n > MaxPacketSize {
		return nil, fmt.Errorf("packet size %q", size)
	}
	t.p.Size, t.head = n, n
	if rest != "" {
		if _, err := fmt.Sscanf(rest, ", first %d and last %d shown", &t.head, &t.tail); err != nil {
			return nil, fmt.Errorf("%q: %w", rest, err)
		}
		if t.head < 4 || t.tail < 0 || t.head+t.tail > n {
			return nil, fmt.Errorf("%d + %d of %d bytes shown", t.head, t.tail, n)
		}
	}
	return t, nil
}

func (t *packetText) bytes(text string) error {
	if text == "..." {
		t.inTail = true
		return nil
	}
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		return err
	}
	if t.inTail {
		t.p.Tail = append(t.p.Tail, b...)
	} else {
		t.p.Head = append(t.p.Head, b...)
	}
	return nil
}

// add checks a packet that is complete and appends it.
func (c *Capture) add(t *packetText) error {
	if t == nil {
		return nil
	}
	p := t.p
	magic := []byte{'A', 'B'}
	if p.Front {
		magic = []byte{0x12, 0x34}
	}
	switch {
	case len(p.Head) != t.head || len(p.Tail) != t.tail:
		return fmt.Errorf("%d + %d bytes announced, %d + %d shown", t.head, t.tail, len(p.Head), len(p.Tail))
	case !bytes.Equal(p.Head[:2], magic):
		return fmt.Errorf("packet begins with % x", p.Head[:2])
	case int(p.Head[2])<<8|int(p.Head[3]) != p.Size-4:
		return fmt.Errorf("packet of %d bytes says %d", p.Size, int(p.Head[2])<<8|int(p.Head[3]))
	}
	c.Packets = append(c.Packets, p)
	return nil
}
