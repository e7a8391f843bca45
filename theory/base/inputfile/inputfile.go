// Package inputfile opens the files that a user names: regular files, and pipes, whose ends
// nobody knows, up to a limit. Devices, some of which never end, and folders are refused.
// The path "-" is standard input.
package inputfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

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
	return open(path, fs.ModeNamedPipe)
}

// OpenRegular opens a file, and refuses a pipe and standard input as well.
func OpenRegular(path string) (File, error) { return open(path, 0) }

// Stat describes the file that Open would open: also the one that is standard input.
func Stat(path string) (fs.FileInfo, error) {
	if path == Standard {
		return os.Stdin.Stat()
	}
	return os.Stat(path)
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

// open opens a file whose type has no other bits than the allowed ones. It asks before it
// opens: to open a device can act on it, and to open a pipe waits for its writer.
func open(path string, allowed fs.FileMode) (File, error) {
	info, err := os.Stat(path)
	if at, ok := errors.AsType[*fs.PathError](err); ok { // without the name of a system call
		return nil, fmt.Errorf("%s: %w", path, at.Err)
	}
	if err != nil {
		return nil, err
	}
	if kind := info.Mode().Type() &^ allowed; kind != 0 {
		return nil, fmt.Errorf("%s: it is %s; want a file", path, Kind(kind))
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		return openPipe(path, writerWait)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return named{file}, nil
}

// writerWait is how long a pipe with a name may have no writer, before whom it does not open.
const writerWait = 10 * time.Second

// openPipe opens a pipe with a name, and refuses one that has no writer for so long.
func openPipe(path string, wait time.Duration) (File, error) {
	opened, failed := make(chan File, 1), make(chan error, 1)
	go func() {
		if file, err := os.Open(path); err != nil {
			failed <- err
		} else {
			opened <- named{file}
		}
	}()
	select {
	case file := <-opened:
		return file, nil
	case err := <-failed:
		return nil, err
	case <-time.After(wait):
		return nil, fmt.Errorf("%s: nothing writes into this pipe: start its writer first", path)
	}
}

// Kind says what there is in the place of a file.
func Kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeDir != 0:
		return "a folder"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "of an unknown kind"
}

// Read returns the text of a file or a pipe of at most limit bytes, without the byte order mark that
// some programs write before it. The errors name the path, and are a *memory.Error where the content
// does not fit in memory.
func Read(path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := memory.Check(Name(path), 2*min(file.Size(), limit)); err != nil { // with what is made of it
		return nil, err
	}
	text, err := readAll(file, Name(path), limit)
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s: the text is in UTF-16, as PowerShell writes it: want UTF-8", Name(path))
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// readAll reads to the end, which has to come after at most limit bytes. name is the file's, for
// the error.
func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1)) // one more shows whether there is more
	if err == nil && int64(len(content)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes; want at most these", name, limit)
	}
	return content, err
}
