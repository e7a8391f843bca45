package inputfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

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
	if _, err := Read(path, 4); err == nil || !strings.Contains(err.Error(), path+": more than 4 bytes") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Read(dir, 4); err == nil || !strings.Contains(err.Error(), "it is a folder; want a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		return
	}
	if _, err := Read("/dev/zero", 4); err == nil || !strings.Contains(err.Error(), "it is a device; want a file") {
		t.Errorf("a device: %v", err)
	}
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
