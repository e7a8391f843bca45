package inputfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"belsim/theory/base/memory"
	"belsim/theory/base/must"
)

// TestRead: files up to the limit are read whole; everything else is refused, and named.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	must.Succeed(t, os.WriteFile(path, []byte("12345"), 0o644))
	if got, err := Read(path, 5); string(got) != "12345" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	must.Refuse(Read(path, 4))(t, path+": more than 4 bytes")
	if _, err := Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	must.Refuse(Read(dir, 4))(t, "it is a folder; want a file")
	if _, err := os.Stat("/dev/zero"); err != nil {
		return
	}
	must.Refuse(Read("/dev/zero", 4))(t, "it is a device; want a file")
}

// TestMemory: a file may take half of the free memory, for what is made of it takes as much.
func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(128 << 20))
	free, _ := memory.Available()
	for size, fits := range map[int64]bool{free / 8: true, free * 3 / 4: false} {
		must.Succeed(t, errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size)))
		if _, err := Read(path, 1<<30); (err == nil) != fits {
			t.Errorf("%d of %d free bytes: error %v, want it to fit: %v", size, free, err, fits)
		}
	}
}

// TestMarks: a byte order mark is left out, and UTF-16 is refused by name.
func TestMarks(t *testing.T) {
	for text, want := range map[string]string{"\ufeff{}": "{}", "{}": "{}", "\xff\xfe{\x00": "", "\xfe\xff\x00{": ""} {
		path := filepath.Join(t.TempDir(), "a.json")
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := Read(path, 100)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestPipe: a pipe with a name is read where something writes into it, and else refused after a while.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if exec.Command("mkfifo", path).Run() != nil {
		t.Skip("there are no pipes with names")
	}
	must.Refuse(openPipe(path, 10*time.Millisecond))(t, path+": nothing writes into this pipe")
	go os.WriteFile(path, []byte("12345"), 0)
	if got, err := Read(path, 5); string(got) != "12345" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

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
