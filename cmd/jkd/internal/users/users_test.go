package users

import (
	"strings"
	"sync"
	"testing"

	"jkd/conf"
)

func read(text string) (*Users, error) {
	return Read(&conf.File{Path: "f", Data: []byte(text)})
}

// The lines were written by Apache's htpasswd for the password "secret".
const written = `# a remark

bcrypt:$2y$05$y9/Cnt3QAAqDaIMkAvh9wOaTEjLp6P6MN1X8sVb5JcXpFxKiHLryy
apr1:$apr1$iVQHGMZt$cGloTi6BXTJ2bSC0z9h0T1
sha1:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=
sha256:$5$4DfV2JqnbZ32qy1A$8GVBWpDrW.iNfZdHhxq0bwVJmsi/TWRFavTyEWrV5QA:a remark
sha512:$6$krcusAkiTUX2tfdT$wftJH86zW0mOpBczqPJq3tWeIK88d4rUjxJOAixLlrip9DhBUouQkZKFfnwdAdOKDnOB/grtnVWTGfmhTXyis.
rounds:$5$rounds=2000$3sYH7w5zMWTmVktp$/F.8FVp8Qv.7yQRs1AxOSSwbNg6NZ.ENpGD8SmYaE7D
`

func TestForms(t *testing.T) {
	u, err := read(strings.ReplaceAll(written, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bcrypt", "apr1", "sha1", "sha256", "sha512", "rounds"} {
		if !u.Check(name, "secret") {
			t.Errorf("%s is refused", name)
		}
		for _, wrong := range []string{"", "Secret", "secret ", "secret\x00", strings.Repeat("secret", 30)} {
			if u.Check(name, wrong) {
				t.Errorf("%s has the password %q", name, wrong)
			}
		}
	}
	for _, name := range []string{"", "nobody", "# a remark", "Bcrypt"} {
		if u.Check(name, "secret") { // the decoy's password
			t.Errorf("%q is let in", name)
		}
	}
}

func TestFaults(t *testing.T) {
	hash := strings.Repeat("a", 86)
	_, err := read("a:secret\n\n#b:c\nnothing\n:x\nd:a26rba97tt62E\nd:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n" +
		"e:$2y$13$KVVA8CI3qJkCzz3NF46y6OC1E00KZnwK/aUeXica0o2mh1bqQMzvW\nf:$2y$05$short\ng:{SHA}5en6\nh:$6$rounds=100001$a$" + hash + "\n" +
		"i:$6$rounds=0$a$" + hash + "\nj:$6$x=1$a$" + hash + "\nk:$6$$" + hash + "\nl:$5$a$" + hash + "\nm:$apr1$123456789$cGloTi6BXTJ2bSC0z9h0T1\n" +
		"n:" + strings.Repeat("x", MaxLine) + "\no:{SSHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\np:\n")
	const want = `f:1: a: is plain text or a form that is not supported: use htpasswd -B
f:4: is not of the form name:hash
f:5: is not of the form name:hash
f:6: d: is crypt's old form or plain text, which are not supported: use htpasswd -B
f:7: d: is in line 6 already
f:8: e: bcrypt: the cost 13 is more than 12: each check would take too long
f:9: f: bcrypt: the hash is malformed
f:10: g: SHA-1: the hash is malformed
f:11: h: SHA-512: 100001 rounds are more than 100000: each check would take too long
f:12: i: SHA-512: the hash is malformed
f:13: j: SHA-512: the hash is malformed
f:14: k: SHA-512: the hash is malformed
f:15: l: SHA-256: the hash is malformed
f:16: m: MD5: the hash is malformed
f:17: the line is longer than 1024 bytes
f:18: o: is plain text or a form that is not supported: use htpasswd -B
f:19: p: is plain text or a form that is not supported: use htpasswd -B`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if _, err := read("# nobody\n"); err == nil || err.Error() != "f: there is no user in the file" {
		t.Errorf("got %v", err)
	}
}

func TestConcurrently(t *testing.T) {
	u, err := read(written)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !u.Check("bcrypt", "secret") || u.Check("none", "secret") {
				t.Error("wrong")
			}
		})
	}
	all.Wait()
}

// FuzzRead: what is taken can be checked against, and no hash shows in an
// error.
func FuzzRead(f *testing.F) {
	f.Add(written)
	f.Add("a:$6$rounds=1000$a$x\nb:$5$a")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := read(text)
		if err != nil {
			return
		}
		for name := range u.list {
			u.Check(name, "x")
		}
		u.Check("\x00", "x")
	})
}
