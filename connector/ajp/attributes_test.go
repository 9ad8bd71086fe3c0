package ajp

import (
	"reflect"
	"strings"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// The names are those of the packet, one by one and all together.
func TestAttributeNames(t *testing.T) {
	edits := []func(*Request){
		func(r *Request) { r.Secret = "s3cr3t-value" },
		func(r *Request) { r.RemoteUser = []byte("joe") },
		func(r *Request) { r.AuthType = []byte("Basic") },
		func(r *Request) { r.HasQuery = true },
		func(r *Request) { r.Route = "n1" },
		func(r *Request) {
			r.Secure, r.ForwardKeySize = true, true
			r.TLS = &connector.TLS{Protocol: "TLSv1.3", Cipher: "c", SessionID: "i", KeySize: 128, ClientCert: "p"}
		},
		func(r *Request) { r.Secure, r.TLS = true, &connector.TLS{KeySize: 128} },
		func(r *Request) { r.TLS = &connector.TLS{Protocol: "TLSv1.3", Cipher: "c"} },
		func(r *Request) { r.Method = []byte("BREW") },
		func(r *Request) { r.Attributes = []Attribute{{"A1", "v"}, {"A2", ""}} },
	}
	check := func(r *Request) {
		t.Helper()
		d, err := ajptest.DecodeForward(encode(r).buf[4:])
		if err != nil {
			t.Fatal(err)
		}
		got := r.AttributeNames()
		if want := d.AttrNames(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if strings.Contains(strings.Join(got, " "), "s3cr3t") {
			t.Errorf("the secret is among %q", got)
		}
	}
	all := newRequest("GET", "/")
	check(all)
	for _, edit := range edits {
		r := newRequest("GET", "/")
		edit(r)
		check(r)
	}
	for _, i := range []int{0, 1, 2, 3, 4, 5, 8, 9} {
		edits[i](all)
	}
	check(all)
	if n := len(all.AttributeNames()); n != 16 {
		t.Errorf("%d names", n)
	}
}
