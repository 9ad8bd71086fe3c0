package httpd

import (
	"bufio"
	"errors"
	"io"
)

// maxExtensions bounds the chunk extensions of one body, in bytes.
const maxExtensions = 16 << 10

// chunkPart is what is to be read next of a chunked body.
type chunkPart uint8

const (
	chunkSize    chunkPart = iota // the line of a chunk's size
	chunkData                     // left bytes of a chunk
	chunkEnd                      // the line end behind them
	chunkTrailer                  // lines behind the last chunk
	chunkDone
)

var chunkPartNames = [...]string{"size", "data", "end", "trailer", "done"}

func (p chunkPart) String() string { return chunkPartNames[p] }

// chunked reads the chunked coding (RFC 9112 section 7.1) to the letter:
// whoever else reads the same bytes, before us or behind us, must find the
// same end. Extensions and trailer fields are checked and dropped.
type chunked struct {
	in     *input
	lim    limits
	part   chunkPart
	left   int64 // of the chunk
	ext    int   // bytes of extensions so far
	fields int   // trailer fields so far
}

var (
	errChunkSize    = errors.New("malformed chunk size")
	errChunkEnd     = errors.New("chunk not ended by CR LF")
	errChunkLine    = errors.New("line not ended by CR LF")
	errChunkTooLong = errors.New("line too long")
	errChunkExt     = errors.New("malformed or too many chunk extensions")
	errTrailer      = errors.New("malformed or too many trailer fields")
)

// Read implements io.Reader. io.EOF means that all of the body was read, and
// what ends it too.
func (c *chunked) Read(p []byte) (int, error) {
	for {
		switch c.part {
		case chunkSize:
			line, err := c.line()
			if err != nil {
				return 0, err
			}
			size, ext, err := parseChunkSize(line)
			if err != nil {
				return 0, err
			}
			if c.ext += ext; c.ext > maxExtensions {
				return 0, errChunkExt
			}
			if c.left, c.part = size, chunkData; size == 0 {
				c.part = chunkTrailer
			}
		case chunkData:
			if int64(len(p)) > c.left {
				p = p[:c.left]
			}
			n, err := c.in.br.Read(p)
			if c.left -= int64(n); c.left == 0 {
				c.part = chunkEnd
			}
			return n, noEOF(err)
		case chunkEnd:
			b, err := c.in.br.Peek(2)
			if len(b) > 0 && b[0] != '\r' || len(b) > 1 && b[1] != '\n' {
				return 0, errChunkEnd
			}
			if err != nil {
				return 0, noEOF(err)
			}
			_, _ = c.in.br.Discard(2)
			c.part = chunkSize
		case chunkTrailer:
			line, err := c.line()
			if err != nil {
				return 0, err
			}
			if len(line) == 0 {
				c.part = chunkDone
				continue
			}
			c.fields++
			if len(line) > c.lim.field || c.lim.fields > 0 && c.fields > c.lim.fields || c.fields > maxHead/4 {
				return 0, errTrailer
			}
			if _, _, _, reason := splitField(line); reason != "" {
				return 0, errTrailer
			}
		case chunkDone:
			return 0, io.EOF
		}
	}
}

// line reads a line and returns it without its end. It is good until the next
// read.
func (c *chunked) line() ([]byte, error) {
	b, err := c.in.br.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return nil, errChunkTooLong
	case err != nil:
		return nil, noEOF(err)
	case len(b) < 2 || b[len(b)-2] != '\r':
		return nil, errChunkLine
	}
	return b[:len(b)-2], nil
}

// buffered is how many bytes a Read would return without waiting; where the
// framing decides that, a number that is merely not zero.
func (c *chunked) buffered() int {
	have := c.in.br.Buffered()
	if c.part == chunkData {
		return int(min(int64(have), c.left))
	}
	b, _ := c.in.br.Peek(have)
	if c.part == chunkEnd && len(b) >= 2 {
		b = b[2:]
	}
	for _, ch := range b {
		if ch == '\n' {
			return 1
		}
	}
	return 0
}

// parseChunkSize reads a size line: hexadecimal digits, below 2^63, and
// perhaps extensions behind a semicolon. Blanks may end it, as some clients
// pad the size.
func parseChunkSize(line []byte) (size int64, ext int, _ error) {
	i := 0
	for ; i < len(line); i++ {
		d := hexValue(line[i])
		if d < 0 {
			break
		}
		if i == 16 || size > (1<<63-1)>>4 {
			return 0, 0, errChunkSize
		}
		size = size<<4 | int64(d)
	}
	if i == 0 {
		return 0, 0, errChunkSize
	}
	rest := line[i:]
	if len(rest) > 0 && rest[0] == ';' {
		for _, ch := range rest {
			if ch < ' ' && ch != '\t' || ch == 0x7f {
				return 0, 0, errChunkExt
			}
		}
		return size, len(rest), nil
	}
	for _, ch := range rest {
		if ch != ' ' && ch != '\t' {
			return 0, 0, errChunkSize
		}
	}
	return size, len(rest), nil
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// noEOF makes an end where there must be none an error.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
