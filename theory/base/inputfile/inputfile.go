// Package inputfile opens the files that a user names: regular files, and pipes, whose ends
// nobody knows, up to a limit. Devices, some of which never end, and folders are refused.
// The path "-" is standard input.
package inputfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"belsim/theory/base/memory"
)

// File is a file that is open for reading.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	// Size is the number of bytes, and −1 where only reading to the end shows it.
	Size() int64
}

// Open opens a file, a pipe or standard input for reading. The error names the path. Standard
// input can be opened several times, and is read from its beginning each time.
func Open(path string) (File, error) {
	if path == Standard {
		return openStandard()
	}
	file, err := open(path, fs.ModeNamedPipe)
	if err != nil {
		return nil, err
	}
	return named{file}, nil
}

// named is a File that has a name.
type named struct{ *os.File }

// Size implements File.
func (f named) Size() int64 {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return -1
}

// OpenRegular opens a file, and refuses a pipe and standard input as well.
func OpenRegular(path string) (File, error) {
	file, err := open(path, 0)
	if err != nil {
		return nil, err
	}
	return named{file}, nil
}

// open opens a file whose type has no other bits than the allowed ones. It asks before it
// opens: to open a device can act on it, and to open a pipe waits for its writer.
func open(path string, allowed fs.FileMode) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, info, allowed); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil { // it may be another one by now
		err = check(path, info, allowed)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// check refuses what is no file.
func check(path string, info fs.FileInfo, allowed fs.FileMode) error {
	kind := info.Mode().Type() &^ allowed
	what := ""
	switch {
	case kind == 0:
		return nil
	case kind&fs.ModeDir != 0:
		what = "a folder"
	case kind&fs.ModeDevice != 0:
		what = "a device"
	case kind&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case kind&fs.ModeSocket != 0:
		what = "a socket"
	default:
		what = "not a file"
	}
	return fmt.Errorf("%s: it is %s; want a file", path, what)
}

// Read returns the content of a file or a pipe of at most limit bytes. The errors name the
// path, and are a *memory.Error where the content does not fit in memory.
func Read(path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if size := file.Size(); size >= 0 {
		if size > limit {
			return nil, fmt.Errorf("%s: %d bytes; want at most %d", Name(path), size, limit)
		}
		if err := memory.Check(Name(path), 2*size); err != nil { // with what is made of it
			return nil, err
		}
	}
	content, err := io.ReadAll(Limit(file, Name(path), limit))
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Limit returns a reader of r that fails after limit bytes. name is the file's, for the error.
func Limit(r io.Reader, name string, limit int64) io.Reader {
	return &limited{r, name, limit, limit}
}

type limited struct {
	r           io.Reader
	name        string
	left, limit int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // one more shows whether there is more
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		return int(l.left), fmt.Errorf("%s: more than %d bytes; want at most these", l.name, l.limit)
	}
	l.left -= int64(n)
	return n, err
}
