//go:build unix

package main

import (
	"net/netip"
	"reflect"
	"testing"

	"jkd/cmd/jkd/internal/httpd"
	"jkd/conf"
)

func TestSites(t *testing.T) {
	if got := sites(&conf.Config{VHosts: []conf.VHost{{Name: "a"}}, Locations: []conf.Location{{Path: "/x", Worker: "w"}}}); got != nil {
		t.Errorf("got %+v", got)
	}
	env := func(name string) []conf.EnvSetting { return []conf.EnvSetting{{Name: name, Value: "v"}} }
	want := func(name string) []httpd.EnvSetting { return []httpd.EnvSetting{{Name: name, Value: "v"}} }
	got := sites(&conf.Config{
		Server: conf.ServerConfig{ServerName: "m"},
		Env:    env("main"),
		VHosts: []conf.VHost{{Name: "a", Env: env("a")}, {Name: "b"}},
		Locations: []conf.Location{
			{VHost: 1, Path: "/a/b/c", Env: env("abc")}, {Path: "/x/y/z", Env: env("xyz")}, {Path: "/x/2", Env: env("x2")},
			{Path: "/x/1", Handler: "h"}, {VHost: 1, Path: "/", Env: env("root")}, {VHost: 2, Path: "/only/mounted", Worker: "w"},
		},
	})
	main := []httpd.Location{{Path: "/x/y/z", Env: want("xyz")}, {Path: "/x/2", Env: want("x2")}, {Path: "/x/1", Handler: "h"}}
	if w := []httpd.Site{
		{Name: "m", Env: want("main"), Locations: main},
		{Name: "a", Env: want("a"), Locations: append(append([]httpd.Location(nil), main...),
			httpd.Location{Path: "/a/b/c", Env: want("abc")}, httpd.Location{Path: "/", Env: want("root")})},
		{Name: "b", Locations: main},
	}; !reflect.DeepEqual(got, w) {
		t.Errorf("got %+v\nwant %+v", got, w)
	}
}

// Conditions are compiled, and who may see the status page is left to [status].
func TestSitesApache(t *testing.T) {
	none := &conf.Addresses{}
	got := sites(&conf.Config{
		Env:    []conf.EnvSetting{{Name: "n", Value: "$1", If: &conf.EnvIf{Attribute: "X", Pattern: "(a)b", NoCase: true}}},
		Status: &conf.Status{Location: "/server-status", Metrics: "/metrics"},
		Locations: []conf.Location{
			{Path: "^/r", Match: true, Access: conf.Access{Order: none}}, {Path: "/a/long/path", Handler: "h"}, {Path: "/", Access: conf.Access{Require: none}},
		},
	})
	if len(got) != 1 || len(got[0].Env) != 1 || len(got[0].Locations) != 5 {
		t.Fatalf("got %+v", got)
	}
	if c := got[0].Env[0].If; c == nil || c.Attribute != "X" || !c.Pattern.MatchString("xAB") {
		t.Errorf("condition %+v", c)
	}
	l := got[0].Locations
	client := netip.MustParseAddr("127.0.0.1")
	if l[0].Match == nil || !l[0].Match.MatchString("/r") || l[0].Order(client) || l[0].Require != nil || l[1].Path != "/a/long/path" || l[1].Require != nil ||
		l[2].Path != "/" || l[2].Require(client) || l[2].Order != nil || l[3].Path != "/server-status" || !l[3].Require(client) || l[4].Path != "/metrics" || !l[4].Order(client) {
		t.Errorf("locations %+v", l)
	}
}
