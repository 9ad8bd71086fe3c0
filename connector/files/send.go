package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jkd/connector"
)

// mostRanges bounds the ranges of one request, as Apache's MaxRanges does.
const mostRanges = 200

// conditions are the fields of a request that concern files, in lower case.
var conditions = []string{"range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"}

// send answers r with f, whose content is c.
func send(f *os.File, info fs.FileInfo, c content, r *connector.Request, w connector.ResponseWriter) error {
	a := &answer{w: w, header: http.Header{}, size: info.Size()}
	defer a.release()
	if c.mime != "" {
		a.header.Set("Content-Type", c.mime)
	} else {
		a.header["Content-Type"] = nil // or it would be guessed from the content
	}
	if c.coding != "" {
		a.header.Set("Content-Encoding", c.coding)
	}
	if c.varies {
		a.header.Set("Vary", "Accept-Encoding")
	}
	a.header.Set("Etag", etag(info, c, time.Now()))
	http.ServeContent(a, &http.Request{Method: string(r.Method), Header: asked(r)}, info.Name(), info.ModTime(), io.NewSectionReader(f, 0, info.Size()))
	if a.refused != 0 {
		e := own(a.refused, errRefused)
		e.Fields = fieldsOf(a.header)
		return e
	}
	err := a.err
	if err == nil {
		err = w.Finish()
	}
	if errors.Is(err, connector.ErrBodyLength) {
		err = fmt.Errorf("%s became shorter while it was sent", info.Name())
	}
	return sending(err)
}

// sending is the error of an answer that could not be sent, nil for nil.
func sending(err error) error {
	var ce *connector.ClientError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ce):
		return &connector.Error{Worker: Name, Op: "send file", Status: ce.Status, Client: true, Err: err}
	}
	return &connector.Error{Worker: Name, Op: "read file", Status: http.StatusInternalServerError, Err: err}
}

// asked are the conditions of r.
func asked(r *connector.Request) http.Header {
	h := http.Header{}
	for i := range r.Fields {
		for _, name := range conditions {
			if connector.EqualFold(r.Fields[i].Name, name) {
				h.Add(name, string(r.Fields[i].Value))
			}
		}
	}
	if v := h["Range"]; len(v) > 0 {
		if len(v) > 1 || !wellFormed(v[0]) {
			h.Del("Range") // all of the file is an answer too
		} else {
			h.Set("Range", unit+v[0][len(unit):])
		}
	}
	return h
}

// unit is what ranges are counted in.
const unit = "bytes="

// wellFormed tells whether a Range is one: what is not is to be ignored, while
// one that the file does not have is 416.
func wellFormed(ranges string) bool {
	if len(ranges) < len(unit) || !strings.EqualFold(ranges[:len(unit)], unit) {
		return false
	}
	ranges = ranges[len(unit):]
	if strings.Count(ranges, ",") >= mostRanges {
		return false
	}
	for one := range strings.SplitSeq(ranges, ",") {
		first, last, ok := strings.Cut(strings.TrimSpace(one), "-")
		a, errA := strconv.ParseInt(first, 10, 64)
		b, errB := strconv.ParseInt(last, 10, 64)
		switch {
		case !ok, first == "" && errB != nil, last == "" && errA != nil, strings.ContainsAny(first+last, "+-"):
			return false
		case first == "" && b == 0, first != "" && last != "" && (errA != nil || errB != nil || a > b):
			return false
		}
	}
	return true
}

// etag is made of what changes when the content does: size and time, as Apache's
// (FileETag MTime Size), and the coding. A file that has just been written may be
// written again without showing it, so its tag is weak for a while.
func etag(info fs.FileInfo, c content, now time.Time) string {
	t := `"` + strconv.FormatInt(info.Size(), 16) + "-" + strconv.FormatInt(info.ModTime().UnixMicro(), 16)
	if c.varies && c.coding != "" {
		t += "-" + c.coding
	}
	t += `"`
	if now.Sub(info.ModTime()) < 2*time.Second {
		return "W/" + t
	}
	return t
}

// answer is a connector.ResponseWriter as the standard library writes to it.
type answer struct {
	w       connector.ResponseWriter
	header  http.Header
	size    int64 // of the file
	refused int   // status of 400 or above: the page is not to be the library's
	err     error // of w, or of reading the file
	piece   *[pieceSize]byte
	held    bool // w refers to piece
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status >= 400 {
		a.refused = status
		return
	}
	if status == http.StatusOK && a.header.Get("Content-Length") == "" {
		// The library leaves it out with a Content-Encoding.
		a.header.Set("Content-Length", strconv.FormatInt(a.size, 10))
	}
	a.err = a.w.Start(status, fieldsOf(a.header))
}

// Write implements http.ResponseWriter. p is the caller's again afterwards, so
// it is sent at once.
func (a *answer) Write(p []byte) (int, error) {
	if a.refused != 0 {
		return len(p), nil
	}
	if a.err == nil {
		a.err = a.w.Append(p)
	}
	if a.err == nil {
		a.err = a.w.Flush()
	}
	if a.err != nil {
		return 0, a.err
	}
	return len(p), nil
}

// pieceSize is how much of a file is in memory.
const pieceSize = 64 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// ReadFrom implements io.ReaderFrom: the file goes through one piece of memory,
// or through none where the front can send it by itself. The last piece is left
// to Finish, so that a small file is one write together with its head.
func (a *answer) ReadFrom(src io.Reader) (n int64, err error) {
	if n, err = a.sendFile(src); !errors.Is(err, errors.ErrUnsupported) {
		return n, err
	}
	if a.piece == nil {
		a.piece = pieces.Get().(*[pieceSize]byte)
	}
	for a.err == nil {
		if l, ok := src.(*io.LimitedReader); ok && l.N <= 0 {
			return n, nil
		}
		if a.held {
			a.held = false
			if a.err = a.w.Flush(); a.err != nil {
				break
			}
		}
		k, err := io.ReadFull(src, a.piece[:])
		if k > 0 {
			n, a.held = n+int64(k), true
			a.err = a.w.Append(a.piece[:k])
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			return n, nil
		case err != nil && a.err == nil:
			a.err = err
		}
	}
	return n, a.err
}

// sendFile sends what src has left of the file when that is worth it. It fails
// with errors.ErrUnsupported where nothing was sent.
func (a *answer) sendFile(src io.Reader) (int64, error) {
	w, can := a.w.(connector.FileSender)
	l, limited := src.(*io.LimitedReader)
	if !can || !limited || l.N <= pieceSize || a.err != nil {
		return 0, errors.ErrUnsupported
	}
	part, ok := l.R.(*io.SectionReader)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	file, first, _ := part.Outer()
	at, err := part.Seek(0, io.SeekCurrent)
	if err == nil {
		err = w.SendFile(file.(*os.File), first+at, l.N)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, err
	}
	if a.err = err; err != nil {
		return 0, err
	}
	return l.N, nil
}

// release gives the piece back, once all is sent or given up.
func (a *answer) release() {
	if a.piece != nil {
		pieces.Put(a.piece)
		a.piece = nil
	}
}

// fieldsOf are the fields of h, in the same order every time.
func fieldsOf(h http.Header) (out []connector.Field) {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range h[name] {
			if name == "Etag" {
				name = "ETag"
			}
			out = append(out, connector.Field{Name: []byte(name), Value: []byte(v)})
		}
	}
	return out
}
