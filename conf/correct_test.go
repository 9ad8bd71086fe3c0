package conf

import (
	"reflect"
	"testing"
)

func TestCorrectDefaults(t *testing.T) {
	for _, mpm := range []string{Prefork, Worker} {
		c, want := Defaults(), Defaults()
		c.Server.MPM, want.Server.MPM = mpm, mpm
		if w := c.Correct(); len(w) > 0 || !reflect.DeepEqual(c, want) {
			t.Errorf("%s: the defaults need correcting: %v", mpm, w)
		}
	}
}

func TestCorrectPrefork(t *testing.T) {
	tests := []struct {
		name     string
		in, want PreforkConfig
		warnings []string
	}{
		{
			"spare servers", PreforkConfig{5, 10, 10, 256, 256, 0}, PreforkConfig{5, 10, 11, 256, 256, 0},
			[]string{"MaxSpareServers: 10 is not more than MinSpareServers 10; 11 is used"},
		},
		{
			"everything below one", PreforkConfig{0, -1, 0, 0, 0, -5}, PreforkConfig{1, 1, 2, 1, 1, 0},
			[]string{
				"ServerLimit: 0 is less than 1; 1 is used", "MaxRequestWorkers: 0 is less than 1; 1 is used",
				"StartServers: 0 is less than 1; 1 is used", "MinSpareServers: -1 is less than 1; 1 is used",
				"MaxSpareServers: 0 is not more than MinSpareServers 1; 2 is used", "MaxConnectionsPerChild: -5 is negative; 0 is used",
			},
		},
		{
			"limits", PreforkConfig{500, 5, 10, 300, 400, 0}, PreforkConfig{300, 5, 10, 300, 300, 0},
			[]string{
				"MaxRequestWorkers: 400 is more than ServerLimit 300; 300 is used",
				"StartServers: 500 is more than MaxRequestWorkers 300; 300 is used",
			},
		},
		{
			"far too many", PreforkConfig{5, 5, 10, 200001, 200001, 0}, PreforkConfig{5, 5, 10, 200000, 200000, 0},
			[]string{
				"ServerLimit: 200001 is more than 200000; 200000 is used",
				"MaxRequestWorkers: 200001 is more than ServerLimit 200000; 200000 is used",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Defaults()
			c.Prefork = tt.in
			got := texts(c.Correct())
			if c.Prefork != tt.want {
				t.Errorf("got %+v, want %+v", c.Prefork, tt.want)
			}
			if !reflect.DeepEqual(got, tt.warnings) {
				t.Errorf("got %q, want %q", got, tt.warnings)
			}
			if again := c.Correct(); len(again) > 0 {
				t.Errorf("corrected twice: %q", texts(again))
			}
		})
	}
}

func TestCorrectWorker(t *testing.T) {
	tests := []struct {
		name     string
		change   func(*WorkerConfig)
		want     func(*WorkerConfig)
		warnings []string
	}{
		{
			"rounded down", func(w *WorkerConfig) { w.MaxRequestWorkers = 399 }, func(w *WorkerConfig) { w.MaxRequestWorkers = 375 },
			[]string{"MaxRequestWorkers: 399 is not a multiple of ThreadsPerChild 25; 375 is used"},
		},
		{
			"less than a server", func(w *WorkerConfig) { w.MaxRequestWorkers = 10 },
			func(w *WorkerConfig) { w.MaxRequestWorkers, w.StartServers = 25, 1 },
			[]string{"MaxRequestWorkers: 10 is less than ThreadsPerChild 25; 25 is used",
				"StartServers: 3 is more than the 1 servers of MaxRequestWorkers 25; 1 is used"},
		},
		{
			// Apache keeps 500 here and can then never say that it is reached.
			"more servers than allowed", func(w *WorkerConfig) { w.MaxRequestWorkers = 500 }, func(*WorkerConfig) {},
			[]string{"MaxRequestWorkers: 500 needs 20 servers of 25 threads, more than ServerLimit 16; 400 is used"},
		},
		{
			"thread limit", func(w *WorkerConfig) { w.ThreadsPerChild, w.MaxRequestWorkers = 100, 640 },
			func(w *WorkerConfig) { w.ThreadsPerChild, w.MaxRequestWorkers = 64, 640 },
			[]string{"ThreadsPerChild: 100 is more than ThreadLimit 64; 64 is used"},
		},
		{
			"limits themselves", func(w *WorkerConfig) { w.ServerLimit, w.ThreadLimit = 30000, 30000 },
			func(w *WorkerConfig) { w.ServerLimit, w.ThreadLimit = 20000, 20000 },
			[]string{"ServerLimit: 30000 is more than 20000; 20000 is used", "ThreadLimit: 30000 is more than 20000; 20000 is used"},
		},
		{
			"below one", func(w *WorkerConfig) {
				*w = WorkerConfig{MaxConnectionsPerChild: -1}
			}, func(w *WorkerConfig) {
				*w = WorkerConfig{StartServers: 1, MinSpareThreads: 1, MaxSpareThreads: 3, ServerLimit: 1, ThreadLimit: 1, ThreadsPerChild: 1, MaxRequestWorkers: 1}
			},
			[]string{
				"ServerLimit: 0 is less than 1; 1 is used", "ThreadLimit: 0 is less than 1; 1 is used",
				"ThreadsPerChild: 0 is less than 1; 1 is used", "MaxRequestWorkers: 0 is less than ThreadsPerChild 1; 1 is used",
				"StartServers: 0 is less than 1; 1 is used", "MinSpareThreads: 0 is less than 1; 1 is used",
				"MaxSpareThreads: 0 is less than MinSpareThreads 1 and a server's 1 threads and one more; 3 is used",
				"MaxConnectionsPerChild: -1 is negative; 0 is used",
			},
		},
		{
			"spare threads", func(w *WorkerConfig) { w.MaxSpareThreads = 100 }, func(w *WorkerConfig) { w.MaxSpareThreads = 101 },
			[]string{"MaxSpareThreads: 100 is less than MinSpareThreads 75 and a server's 25 threads and one more; 101 is used"},
		},
		{
			"start servers", func(w *WorkerConfig) { w.StartServers = 17 }, func(w *WorkerConfig) { w.StartServers = 16 },
			[]string{"StartServers: 17 is more than the 16 servers of MaxRequestWorkers 400; 16 is used"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, want := Defaults(), Defaults()
			c.Server.MPM, want.Server.MPM = Worker, Worker
			tt.change(&c.Worker)
			tt.want(&want.Worker)
			got := texts(c.Correct())
			if !reflect.DeepEqual(c, want) {
				t.Errorf("got %+v, want %+v", c.Worker, want.Worker)
			}
			if !reflect.DeepEqual(got, tt.warnings) {
				t.Errorf("got %q\nwant %q", got, tt.warnings)
			}
			if again := c.Correct(); len(again) > 0 {
				t.Errorf("corrected twice: %q", texts(again))
			}
		})
	}
}
