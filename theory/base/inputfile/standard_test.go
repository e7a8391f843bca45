package inputfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// standardInput makes a file or a pipe standard input, until the test ends.
func standardInput(t *testing.T, file *os.File) {
	t.Helper()
	before := os.Stdin
	os.Stdin = file
	t.Cleanup(func() {
		os.Stdin = before
		file.Close()
	})
}

// TestStandard: standard input, a file or a pipe, is read from its beginning each time that it is
// opened, by several readers at once, at any place.
func TestStandard(t *testing.T) {
	const content = "some content"
	path := filepath.Join(t.TempDir(), "a")
	must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
	file, err := os.Open(path)
	must.Succeed(t, err)
	pipe, w, err := os.Pipe()
	must.Succeed(t, err)
	if _, err := w.WriteString(content); err != nil {
		t.Fatal(err)
	}
	w.Close()
	for name, in := range map[string]*os.File{"a file": file, "a pipe": pipe} {
		t.Run(name, func(t *testing.T) {
			standardInput(t, in)
			first, err := Open(Standard)
			must.Succeed(t, err)
			part := make([]byte, 4)
			if _, err := io.ReadFull(first, part); err != nil || string(part) != content[:4] {
				t.Fatalf("%q, %v", part, err)
			}
			if whole, err := Read(Standard, 100); string(whole) != content || err != nil {
				t.Errorf("opened again: %q, %v", whole, err)
			}
			if rest, err := io.ReadAll(first); string(rest) != content[4:] || err != nil {
				t.Errorf("the rest: %q, %v", rest, err)
			}
			if _, err := first.ReadAt(part, 1); string(part) != content[1:5] || err != nil {
				t.Errorf("at 1: %q, %v", part, err)
			}
			if first.Size() != int64(len(content)) || first.Close() != nil {
				t.Errorf("size %d", first.Size())
			}
			if _, err := Read(Standard, 4); err == nil || !strings.HasPrefix(err.Error(),
				"standard input: more than 4 bytes") {
				t.Errorf("a limit: %v", err)
			}
		})
	}
}

// TestStandardFails: the error says that standard input cannot be read.
func TestStandardFails(t *testing.T) {
	r, w, err := os.Pipe()
	must.Succeed(t, err)
	defer w.Close()
	standardInput(t, r)
	r.Close()
	if _, err := Open(Standard); !errors.Is(err, fs.ErrClosed) || !strings.HasPrefix(err.Error(), "standard input: ") {
		t.Error(err)
	}
}
