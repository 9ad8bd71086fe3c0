//go:build unix

package jk2shm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"jkd/shm"
)

// helperVar makes the test binary a child or a reader instead of running tests;
// its value says which.
const helperVar = "JKD_JK2SHM_HELPER"

const testSlots = 16

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(helperVar) {
	case "":
		os.Exit(m.Run())
	case "write":
		err = writeForever(os.Args[1])
	case "read":
		err = readByName(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writeForever is child n, which serves requests on three endpoints as fast as
// it can until its standard input ends. Request i is for /i, begins at i, is
// taken at 2i and takes 5.
func writeForever(n string) error {
	size, err := Size(testSlots)
	if err != nil {
		return err
	}
	seg, err := shm.Attach(3, size)
	if err != nil {
		return err
	}
	s, err := AttachAny(seg.Bytes())
	if err != nil {
		return err
	}
	server, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(stop) }()
	c := s.Child(server)
	var endpoints []*Endpoint
	for id := range 3 {
		endpoints = append(endpoints, c.Endpoint(id, id))
	}
	fmt.Println("ready")
	for i := int64(1); ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		for _, e := range endpoints {
			e.Begin(strconv.AppendInt([]byte("/"), i, 10), i, 2*i)
			e.End(i%3 != 0, i+5)
		}
	}
}

// readByName is a program that looks at the file of a running server.
func readByName(path, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	seg, err := shm.Open(path)
	if err != nil {
		return err
	}
	s, err := AttachAny(seg.Bytes())
	if err != nil {
		return err
	}
	var v View
	whole, torn := 0, 0
	for range n {
		s.View(&v)
		for i := range v.Slots {
			for id := range v.Slots[i].Records {
				r := &v.Slots[i].Records[id]
				if r.Torn {
					torn++
					continue
				}
				whole++
				if err := consistent(r, id); err != nil {
					return err
				}
			}
		}
	}
	if whole < n {
		return fmt.Errorf("of %d records only %d were whole", whole+torn, whole)
	}
	return nil
}

// consistent checks a record that writeForever has written.
func consistent(r *Record, id int) error {
	if r.Worker != uint32(id) {
		return fmt.Errorf("the worker of endpoint %d: %+v", id, *r)
	}
	if r.Start == 0 {
		return nil // before the first request
	}
	done := uint64(r.Requests) + uint64(r.Errors)
	switch {
	case r.Active != "/"+strconv.FormatUint(r.Start, 10), r.JkStart != 2*r.Start,
		done != r.Start && done != r.Start-1, r.Total != 5*done,
		uint64(r.Errors) != done/3, done > 0 && (r.End != done+5 || r.Max != 5):
		return fmt.Errorf("half of a record: %+v", *r)
	}
	return nil
}

func helper(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), helperVar+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// Programs read the file while children write it, one of which is killed; no
// record that they take for whole is half of one.
func TestReadersAndWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jk2.shm")
	size, err := Size(testSlots)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := shm.CreateFile(path, size)
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	s, err := Format(seg.Bytes(), testSlots)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(seg.Fd())) // the file below closes its own
	if err != nil {
		t.Fatal(err)
	}
	inherited := os.NewFile(uintptr(fd), "segment")
	defer inherited.Close()
	var ends []func()
	for n := range 8 {
		cmd := helper(t, "write", strconv.Itoa(n))
		cmd.ExtraFiles = []*os.File{inherited}
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		if n == 7 {
			end = func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				s.Reclaim(n)
			}
		}
		ends = append(ends, end)
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
	rounds := "100"
	if testing.Short() {
		rounds = "30"
	}
	var readers []*exec.Cmd
	for range 2 {
		cmd := helper(t, "read", path, rounds)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		readers = append(readers, cmd)
	}
	for _, r := range readers {
		if err := r.Wait(); err != nil {
			t.Error("a reader:", err)
		}
	}
	for _, end := range ends {
		end()
	}
	var v View
	s.View(&v)
	if len(v.Slots) != 8 {
		t.Errorf("%d slots", len(v.Slots))
	}
	for i := range v.Slots[:7] {
		for id := range v.Slots[i].Records {
			r := &v.Slots[i].Records[id]
			if err := consistent(r, id); err != nil || r.Torn {
				t.Errorf("slot %d: %v, torn %v", i, err, r.Torn)
			}
		}
	}
	if r := v.Slots[7].Records; len(r) != 3 || r[0].Torn || r[1].Torn || r[2].Torn {
		t.Errorf("the one that was killed: %+v", r)
	}
}
