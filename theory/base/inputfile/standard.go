package inputfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"belsim/theory/base/memory"
)

// Standard is the path of standard input.
const Standard = "-"

// Name is a path in messages and results: standard input has a name there.
func Name(path string) string {
	if path == Standard {
		return "standard input"
	}
	return path
}

// maxStandard is the most that is read from a pipe at standard input, in bytes. A file that is
// redirected to it may be larger.
const maxStandard = 1 << 30

// piped keeps what a pipe at standard input held. It can be read only once, but a command may
// open an input several times, as it opens a file: to count something first, for example.
var piped struct {
	sync.Mutex
	from    *os.File // the standard input that was read
	content []byte
}

// openStandard opens standard input at its beginning.
func openStandard() (File, error) {
	in := os.Stdin
	if size := (named{in}).Size(); size >= 0 { // a file
		return unclosed{io.NewSectionReader(in, 0, size)}, nil
	}
	piped.Lock()
	defer piped.Unlock()
	if piped.from != in {
		content, err := readPipe(in)
		if err != nil {
			return nil, err
		}
		piped.from, piped.content = in, content
	}
	return unclosed{bytes.NewReader(piped.content)}, nil
}

// readPipe reads a pipe to its end.
func readPipe(r io.Reader) ([]byte, error) {
	name := Name(Standard)
	r = Limit(r, name, maxStandard)
	var content bytes.Buffer
	for part := int64(1 << 20); ; part *= 2 {
		if err := memory.Check(name, 3*part); err != nil { // the buffer grows to twice its size
			return nil, err
		}
		_, err := io.CopyN(&content, r, part)
		if errors.Is(err, io.EOF) {
			return content.Bytes(), nil
		}
		if path := new(os.PathError); errors.As(err, &path) {
			return nil, fmt.Errorf("%s: %w", name, path.Err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// seekable is what a File is beside its Close.
type seekable interface {
	io.ReadSeeker
	io.ReaderAt
	Size() int64
}

// unclosed is a File whose Close does nothing: standard input stays open.
type unclosed struct{ seekable }

// Close implements File.
func (unclosed) Close() error { return nil }
