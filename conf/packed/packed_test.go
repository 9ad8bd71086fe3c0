package packed

import (
	"bytes"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

type leaf struct {
	Name   string
	Prefix netip.Prefix
	hidden int
}

type sample struct {
	Yes, No  bool
	Small    int8
	Big      int64
	Word     uint16
	Text     string
	Data     []byte
	Names    []string
	Leaves   []leaf
	Pointers []*leaf
	Pair     [2]uint32
	Map      map[string]int
	Nested   map[string]map[int8]bool
	One      *leaf
	Path     **int
}

func samples() []sample {
	n := 7
	p := &n
	return []sample{
		{},
		{Data: []byte{}, Names: []string{}, Leaves: []leaf{}, Map: map[string]int{}},
		{
			Yes: true, Small: -128, Big: -1 << 63, Word: 65535, Text: "a\x00\xff", Data: []byte{0, 255},
			Names: strings.Split(strings.Repeat("x,", 100), ","), Leaves: []leaf{{Name: "l", Prefix: netip.MustParsePrefix("10.0.0.0/8")}, {}},
			Pointers: []*leaf{nil, {Name: "p"}}, Pair: [2]uint32{1, 1<<32 - 1},
			Map: map[string]int{"b": 1, "a": -1, "": 0}, Nested: map[string]map[int8]bool{"n": nil, "m": {1: true, -1: false}},
			One: &leaf{Prefix: netip.MustParsePrefix("::/0")}, Path: &p,
		},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range samples() {
		b, err := Append([]byte("head"), &want)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Append([]byte("head"), &want)
		if !bytes.Equal(b, again) {
			t.Error("a second time the bytes are others")
		}
		var got *sample
		if err := Decode(b[4:], &got); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		for i := range len(b) - 4 {
			if err := Decode(b[4:4+i], new(*sample)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%d of %d bytes: %v", i, len(b)-4, err)
			}
		}
		if err := Decode(append(b[4:], 0), new(*sample)); !errors.Is(err, ErrMalformed) {
			t.Errorf("a byte too much: %v", err)
		}
	}
}

func TestBytes(t *testing.T) {
	for want, v := range map[string]any{
		"\x01":     true,
		"\x02\x00": []string{""},
		"\x03":     -2,
		"\xac\x02": uint(300),
		"\x01x":    "x",
		"\x00":     []string(nil),

		"\x03\x01a\x00":          []string{"a", ""},
		"\x03\x00\xff":           []byte{0, 255},
		"\x02\x04":               [2]int{1, 2},
		"\x03\x01a\x02\x01b\x04": map[string]int{"b": 2, "a": 1},
		"\x02ab\x00":             leaf{Name: "ab", hidden: 3},
	} {
		if got, err := Append(nil, v); err != nil || string(got) != want {
			t.Errorf("%#v: %q, %v, want %q", v, got, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, v := range []any{1.5, func() {}, struct{ C chan int }{}, []any{1}, map[string]any{"a": 1}, struct{ hidden int }{}, struct{}{}} {
		if b, err := Append(nil, v); err == nil {
			t.Errorf("%T: %q", v, b)
		}
	}
	for text, v := range map[string]any{
		"\x02":         new(bool),
		"\x80\x02":     new(int8),
		"\x80\x02\x00": new(uint8),
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02":     new(uint64),
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00": new(uint64),
		"\x05abc":              new(string),
		"\xff\xff\xff\xff\x0f": new([]sample),
		"\xff\xff\xff\xff\x0e": new(map[string]int),
		"\x05ab":               new([]byte),
		"\x00\x03abc":          new(leaf),
	} {
		if err := Decode([]byte(text), v); err == nil {
			t.Errorf("%q as %T: %+v", text, v, reflect.ValueOf(v).Elem())
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples() {
		b, err := Append(nil, s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s sample
		if Decode(b, &s) != nil {
			return
		}
		again, err := Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		var back sample
		if err := Decode(again, &back); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%+v, %v\nwant %+v", back, err, s)
		}
	})
}
