package load

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

func TestParseWrk(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name, out string
		want      Result
		fails     bool
	}{
		{"whole", "Running 2s test @ http://127.0.0.1\n  1 threads and 20 connections\n\nRESULT " +
			`{"requests":1000,"duration":2000000,"connect":1,"read":2,"write":3,"status":10,"timeout":4,"min":100,"mean":1500.7,"stdev":200.2,"p50":1000,"p99":5000,"max":9000}` + "\n",
			Result{Requests: 990, Failed: 20, Elapsed: 2 * time.Second, Min: ms / 10, Mean: 1500 * time.Microsecond, SD: ms / 5, P50: ms, P99: 5 * ms, Max: 9 * ms}, false},
		{"nothing answered", "\nRESULT " + `{"requests":0,"duration":1000000,"connect":7,"read":0,"write":0,"status":0,"timeout":0,"min":0,"mean":-nan,"stdev":nan,"p50":0,"p99":0,"max":0}` + "\n",
			Result{Failed: 7, Elapsed: time.Second}, false},
		{"no line", "unable to connect to 127.0.0.1:1 Connection refused\n", Result{}, true},
		{"broken line", "\nRESULT {\n", Result{}, true},
	} {
		got, err := parseWrk(tt.out)
		if got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestSummarize(t *testing.T) {
	ms := func(n ...int) (r []Record) {
		for _, n := range n {
			r = append(r, Record{Took: time.Duration(n) * time.Millisecond, OK: n > 0})
		}
		return r
	}
	for _, tt := range []struct {
		records []Record
		want    string // requests failed min mean sd p50 p99 max
	}{
		{nil, "0 0 0s 0s 0s 0s 0s 0s"},
		{ms(-1), "0 1 0s 0s 0s 0s 0s 0s"},
		{ms(2), "1 0 2ms 2ms 0s 2ms 2ms 2ms"},
		{ms(4, 2, -1, 2, 4), "4 1 2ms 3ms 1ms 2ms 4ms 4ms"},
	} {
		r := Summarize(tt.records, time.Second)
		if got := fmt.Sprint(r.Requests, r.Failed, r.Min, r.Mean, r.SD, r.P50, r.P99, r.Max); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.records, got, tt.want)
		}
	}
	if r := (Result{Requests: 10, Elapsed: 2 * time.Second}).Rate(); r != 5 {
		t.Errorf("Rate = %v", r)
	}
	if r := (Result{Requests: 10}).Rate(); r != 0 {
		t.Errorf("Rate without a time = %v", r)
	}
}

func TestClient(t *testing.T) {
	var connections, bytes atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		bytes.Add(n)
		if r.URL.Path == "/no" {
			w.WriteHeader(500)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	for _, tt := range []struct {
		client                     Client
		failed, bytes, connections int64
	}{
		{Client{URL: s.URL + "/yes", Connections: 3, Requests: 20, KeepAlive: true}, 0, 0, 3},
		{Client{URL: s.URL + "/yes", Connections: 3, Requests: 20}, 0, 0, 20},
		{Client{URL: s.URL + "/no", Connections: 2, Requests: 20, KeepAlive: true}, 20, 0, 2},
		{Client{URL: s.URL + "/yes", Connections: 1, Requests: 2, Upload: 100_000}, 0, 200_000, 2},
		{Client{URL: s.URL + "/yes", Connections: 2, Requests: 10, Rate: 1000, KeepAlive: true}, 0, 0, 2},
		{Client{URL: "http://127.0.0.1:1/", Connections: 2, Requests: 4}, 4, 0, 0},
	} {
		bytes.Store(0)
		connections.Store(0)
		records, elapsed, err := tt.client.Run()
		if err != nil {
			t.Fatal(err)
		}
		r := Summarize(records, elapsed)
		if r.Failed != tt.failed || r.Requests+r.Failed != int64(tt.client.Requests) || bytes.Load() != tt.bytes || connections.Load() > tt.connections {
			t.Errorf("%+v: %+v, %d bytes on %d connections", tt.client, r, bytes.Load(), connections.Load())
		}
		if tt.client.Rate > 0 && records[9].Start != 9*time.Millisecond {
			t.Errorf("request 9 was due at %v", records[9].Start)
		}
	}
}

func TestHold(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	h, err := Hold(s.URL, 60, time.Minute)
	if err != nil || h.Served != 60 {
		t.Fatal(h, err)
	}
	h.Close()
}
