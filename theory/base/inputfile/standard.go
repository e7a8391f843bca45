package inputfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
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
		content, err := readAll(in, Name(Standard), maxStandard)
		if path := new(os.PathError); errors.As(err, &path) {
			err = fmt.Errorf("%s: %w", Name(Standard), path.Err)
		}
		if err != nil {
			return nil, err
		}
		piped.from, piped.content = in, content
	}
	return unclosed{bytes.NewReader(piped.content)}, nil
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
