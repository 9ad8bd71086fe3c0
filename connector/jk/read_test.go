package jk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jkd/conf"
)

// load reads a jkd.conf and what it names from a directory of its own.
func load(t *testing.T, files map[string]string) (*conf.Config, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := conf.Load(filepath.Join(dir, "jkd.conf"), conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

func TestReadDeployment(t *testing.T) {
	workers, err := os.ReadFile("testdata/freebsd-2003-workers.properties")
	if err != nil {
		t.Fatal(err)
	}
	c, dir := load(t, map[string]string{
		"jkd.conf": "[server]\nListen = 8080\n[connector.jk]\nJkWorkersFile = workers.properties\n" +
			"JkMount = /examples/servlet/* ajp13\nJkMount = /examples/*.jsp ajp13\n",
		"workers.properties": string(workers),
	})
	setup, warnings, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "workers", workerNames(setup.Config), []string{"ajp13 ajp13"})
	for path, want := range map[string]string{
		"/examples/servlet/HelloWorldExample": "ajp13 /examples/servlet/*", "/examples/jsp/simpletag/foo.jsp": "ajp13 /examples/*.jsp",
		"/examples/index.html": "", "/examples/servlet": "",
	} {
		same(t, path, hit(setup.Map(), path), want)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.Severity.String()+" "+strings.ReplaceAll(w.String(), dir, "DIR"))
	}
	same(t, "warnings", got, []string{
		"info DIR/workers.properties:2: worker.ajp13: of the 25 connections a process may keep it never uses more than it serves requests at a time (1)",
		"info DIR/workers.properties:2: worker.ajp13: 256 processes with up to 1 connections each: the back end must take up to 256; Tomcat has 200 threads (maxThreads) if nothing else is set there, max_connections is a bound here",
	})
}

func TestReadAllFaultsAtOnce(t *testing.T) {
	c, dir := load(t, map[string]string{
		"jkd.conf":           "[server]\nListen = 8080\n[connector.jk]\nJkWorkersFile = w\nJkMountFile = m\nJkMount = /a nobody\nJkWorkerProperty = worker.x.prot=1\nJkMount = /lb/* lb;sticky_ignore=1;session_cookie=x\n",
		"w":                  "worker.list=x,lb\nworker.x.port=y\nworker.lb.type=1b\n",
		"m":                  "*.jsp=x\n/b=y\n",
		"workers.properties": "",
	})
	setup, warnings, err := Load(c)
	if setup != nil {
		t.Error("there is a result in spite of faults")
	}
	same(t, "warnings", said(warnings, conf.Warn), []string(nil))
	var got []string
	for _, l := range lines(err) {
		got = append(got, strings.ReplaceAll(l, dir, "DIR"))
	}
	same(t, "errors", got, []string{
		"DIR/jkd.conf:6: /a: there is no worker nobody in worker.list (DIR/w:1)",
		"DIR/jkd.conf:7: worker.x.prot: directive prot is not supported - please check, did you mean port?",
		`DIR/w:2: worker.x.port: "y" is not a whole number`,
		"DIR/w:3: worker.lb.type: Unknown worker type 1b, did you mean lb? (ajp13, lb, status)",
		"DIR/m:1: *.jsp: invalid mapping rule: the pattern does not begin with '/', did you mean /*.jsp?",
		"DIR/m:2: /b: there is no worker y in worker.list (DIR/w:1)",
	})
}

func TestReadNothingMounted(t *testing.T) {
	c, dir := load(t, map[string]string{"jkd.conf": "[server]\nListen = 8080\n[connector.jk]\n"})
	setup, warnings, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "workers", setup.Config.Workers, []WorkerConfig{defaults("ajp13")})
	same(t, "rules", len(setup.Map().Rules()), 0)
	same(t, "match", hit(setup.Map(), "/"), "")
	same(t, "warnings", said(warnings, conf.Warn), []string{dir + "/jkd.conf: no path is mounted: every request will be answered 404"})
}

func TestSamples(t *testing.T) {
	c, warnings, err := conf.Load("../../conf/jkd.conf.sample", conf.Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	setup, warnings, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "warnings", said(warnings, conf.Warn), []string(nil))
	for path, want := range map[string]string{
		"/examples": "ajp13 /examples", "/examples/x": "ajp13 /examples/*", "/examples/a.gif": "",
		"/examples/jsp/sessions/x": "ajp13 /examples/jsp/sessions/*", "/manager/x": "", "/x": "",
	} {
		same(t, path, hit(setup.Map(), path), want)
	}

	// What is commented out in the sample is understood too.
	data := c.Jk.WorkersFile.Data
	text := strings.ReplaceAll(string(data), "\n#worker.", "\nworker.")
	if _, _, err := ParseConfig(testEnv(), source(text)); err != nil {
		t.Error(err)
	}
}
