//go:build unix

package main

import (
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
	main := []httpd.Location{{Path: "/x/2", Env: want("x2")}, {Path: "/x/1", Handler: "h"}, {Path: "/x/y/z", Env: want("xyz")}}
	if w := []httpd.Site{
		{Name: "m", Env: want("main"), Locations: main},
		{Name: "a", Env: want("a"), Locations: append(append([]httpd.Location(nil), main...),
			httpd.Location{Path: "/", Env: want("root")}, httpd.Location{Path: "/a/b/c", Env: want("abc")})},
		{Name: "b", Locations: main},
	}; !reflect.DeepEqual(got, w) {
		t.Errorf("got %+v\nwant %+v", got, w)
	}
}
