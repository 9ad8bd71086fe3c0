package jkshm

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// MaxCount is the most a count or a limit in the settings may be.
const MaxCount = 1<<31 - 1

// MaxDuration is the longest time in the settings: what mod_jk can count in
// seconds.
const MaxDuration = MaxCount * time.Second

// codec carries the fields of a settings struct to words and back. Each struct
// has one method that names its fields in order, for both directions. What is
// read is brought into range; what is to be written must be in range.
type codec struct {
	words  []uint64
	at     int
	encode bool
	err    error   // the first field out of range
	spans  *[]span // if set, where the fields are
}

// span is where a field is.
type span struct {
	name  string
	at, n int
}

// configurable is a settings struct.
type configurable interface{ fields(*codec) }

// encode writes s to words.
func encode(s configurable, words []uint64) error {
	c := codec{words: words, encode: true}
	s.fields(&c)
	return c.err
}

// decode makes s what the words say.
func decode(s configurable, words []uint64) {
	c := codec{words: words}
	s.fields(&c)
}

// spansOf lists the fields of s.
func spansOf(s configurable, n int) []span {
	var out []span
	c := codec{words: make([]uint64, n), spans: &out}
	s.fields(&c)
	return out
}

func (c *codec) next(name string, n int) []uint64 {
	if c.spans != nil {
		*c.spans = append(*c.spans, span{name, c.at, n})
	}
	w := c.words[c.at : c.at+n]
	c.at += n
	return w
}

func (c *codec) bad(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// integer is a number from lo to hi.
func (c *codec) integer(name string, v *int, lo, hi int) {
	w := c.next(name, 1)
	if !c.encode {
		*v = int(max(int64(lo), min(int64(w[0]), int64(hi))))
		return
	}
	if *v < lo || *v > hi {
		c.bad("%s %d is not between %d and %d", name, *v, lo, hi)
	}
	w[0] = uint64(int64(*v))
}

// multiple is a number from lo to hi that is a multiple of step; lo is one.
func (c *codec) multiple(name string, v *int, lo, hi, step int) {
	if c.encode && *v%step != 0 {
		c.bad("%s %d is not a multiple of %d", name, *v, step)
	}
	c.integer(name, v, lo, hi)
	*v -= *v % step
}

// duration is a time from lo to MaxDuration.
func (c *codec) duration(name string, v *time.Duration, lo time.Duration) {
	w := c.next(name, 1)
	if !c.encode {
		*v = max(lo, min(time.Duration(w[0]), MaxDuration))
		return
	}
	if *v < lo || *v > MaxDuration {
		c.bad("%s %v is not between %v and %v", name, *v, lo, MaxDuration)
	}
	w[0] = uint64(*v)
}

func (c *codec) boolean(name string, v *bool) {
	w := c.next(name, 1)
	switch {
	case !c.encode:
		*v = w[0] != 0
	case *v:
		w[0] = 1
	default:
		w[0] = 0
	}
}

// enumeration is one of a type's constants; anything else is read as other.
func enumeration[T interface {
	~uint8
	Valid() bool
}](c *codec, name string, v *T, other T) {
	w := c.next(name, 1)
	if c.encode {
		if !(*v).Valid() {
			c.bad("%s %d is unknown", name, *v)
		}
		w[0] = uint64(*v)
		return
	}
	if *v = T(w[0]); uint64(*v) != w[0] || !(*v).Valid() {
		*v = other
	}
}

// text is up to MaxName bytes without a zero byte.
func (c *codec) text(name string, v *string) { c.textOf(name, v, textWords) }

// host is up to MaxHost bytes without a zero byte.
func (c *codec) host(name string, v *string) { c.textOf(name, v, hostWords) }

func (c *codec) textOf(name string, v *string, words int) {
	w := c.next(name, words)
	if !c.encode {
		var b [hostWords * wordSize]byte
		if t := textBytes(b[:0], w); *v != string(t) {
			*v = string(t)
		}
		return
	}
	if most := words*wordSize - 1; len(*v) > most {
		c.bad("%s %q has more than %d bytes", name, *v, most)
		return
	}
	if strings.IndexByte(*v, 0) >= 0 {
		c.bad("%s %q has a zero byte", name, *v)
	}
	packText(w, *v)
}

// A socket address is five words: 16 bytes of address, port and a flag for
// IPv4, and up to 15 bytes of zone.
const (
	addrWords = 5
	zoneWords = 2
	addrIPv4  = 1 << 16
)

func (c *codec) addrPort(w []uint64, a netip.AddrPort) {
	if !a.IsValid() || len(a.Addr().Zone()) >= zoneWords*wordSize {
		c.bad("address %v cannot be kept", a)
		return
	}
	b := a.Addr().As16()
	w[0], w[1] = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	w[2] = uint64(a.Port())
	if a.Addr().Is4() {
		w[2] |= addrIPv4
	}
	packText(w[3:3+zoneWords], a.Addr().Zone())
}

// addrPortOf reads any words as some address.
func addrPortOf(w []uint64) netip.AddrPort {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], w[0])
	binary.LittleEndian.PutUint64(b[8:], w[1])
	a := netip.AddrFrom16(b)
	if w[2]&addrIPv4 != 0 {
		a = netip.AddrFrom4([4]byte(b[12:]))
	} else if zone := unpackText(w[3 : 3+zoneWords]); zone != "" {
		a = a.WithZone(zone)
	}
	return netip.AddrPortFrom(a, uint16(w[2]))
}

// packText writes s, which is shorter than the words, with zeros behind it.
func packText(w []uint64, s string) {
	var b [hostWords * wordSize]byte
	copy(b[:len(w)*wordSize-1], s)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[i*wordSize:])
	}
}

// textBytes appends the text of w to b.
func textBytes(b []byte, w []uint64) []byte {
	most := len(w)*wordSize - 1
	for _, v := range w {
		for range wordSize {
			if byte(v) == 0 || len(b) == most {
				return b
			}
			b = append(b, byte(v))
			v >>= 8
		}
	}
	return b
}

func unpackText(w []uint64) string { return string(textBytes(nil, w)) }
