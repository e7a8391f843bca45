package safefile

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// only checks that a folder has one file, and what is in it.
func only(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%.40s: %q, %v; want %q", filepath.Base(path), got, err, want)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v; want one file", entries, err)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	for _, s := range []string{"first", "second, and longer than a buffer" + strings.Repeat(".", 1<<17), ""} {
		must.Succeed(t, Write(path, text(s)))
		only(t, path, s)
	}
}

// TestPermissions of a new file are those that os.Create gives. A replaced one keeps its own, while
// it is written, too.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	file := must.Get(os.Create(filepath.Join(dir, "created")))(t)
	defer file.Close()
	want := must.Get(file.Stat())(t)
	path := filepath.Join(dir, "written")
	modes := []fs.FileMode{want.Mode()}
	for mode := range fs.FileMode(0o100) {
		if runtime.GOOS != "windows" {
			modes = append(modes, 0o600|mode)
		}
	}
	for i, mode := range modes {
		if i > 0 {
			must.Succeed(t, os.Chmod(path, mode))
		}
		must.Succeed(t, Write(path, func(w io.Writer) error {
			for _, e := range must.Get(os.ReadDir(dir))(t) {
				if info := must.Get(e.Info())(t); strings.HasSuffix(e.Name(), ".tmp") && info.Mode() != mode {
					t.Errorf("%v while a file of %v is written", info.Mode(), mode)
				}
			}
			return text("x")(w)
		}))
		if got := must.Get(os.Stat(path))(t); got.Mode() != mode {
			t.Errorf("%v, want %v", got.Mode(), mode)
		}
	}
}

// TestReadOnly: a file that may not be written is not replaced.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	must.Succeed(t, os.WriteFile(path, []byte("old"), 0o444))
	if file, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		file.Close()
		t.Skip("this user may write every file")
	}
	for _, err := range []error{Probe(path), Write(path, text("new"))} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Error(err)
		}
	}
	only(t, path, "old")
}

// TestLongNames: every name that a file can have will do.
func TestLongNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("n", 255), strings.Repeat("é", 127),
		strings.Repeat("x", 251) + ".csv"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Logf("this file system has no names of %d bytes: %v", len(name), err)
			continue
		}
		if err := Write(path, func(w io.Writer) error {
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 2 {
				t.Errorf("%v, %v; want the file and its temporary one", entries, err)
			}
			return text("long")(w)
		}); err != nil {
			t.Fatal(err)
		}
		only(t, path, "long")
	}
}

// TestFailure: the old file stays, and nothing else does.
func TestFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	must.Succeed(t, Write(path, text("old")))
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		text(strings.Repeat("half", 1<<16))(w)
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "writing "+path+": ") {
		t.Error(err)
	}
	only(t, path, "old")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		Write(path, func(io.Writer) error { panic("broken") })
	}()
	only(t, path, "old")
	// A folder in the file's place can be neither replaced nor linked.
	taken := filepath.Join(t.TempDir(), "taken")
	must.Succeed(t, os.Mkdir(taken, 0o777))
	if err := Write(taken, text("new")); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, err := os.ReadDir(filepath.Dir(taken)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	nowhere := filepath.Join(t.TempDir(), "no", "folder")
	for _, err := range []error{Probe(nowhere), Write(nowhere, text("x"))} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "writing "+nowhere) {
			t.Errorf("no folder: %v", err)
		}
	}
}

// TestLinks: what a link points to is replaced, and the link stays.
func TestLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	target := filepath.Join(other, "target.csv")
	must.Succeed(t, os.WriteFile(target, []byte("old"), 0o666))
	link, chain, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "chain"), filepath.Join(dir, "dangling")
	for _, l := range [][2]string{{target, link}, {"link", chain}, {filepath.Join(other, "new"), dangling},
		{"loop", filepath.Join(dir, "loop")}} {
		if err := os.Symlink(l[0], l[1]); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for path, file := range map[string]string{link: target, chain: target, dangling: filepath.Join(other, "new")} {
		must.Succeed(t, Write(path, text(path)))
		if got, err := os.ReadFile(file); err != nil || string(got) != path {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", path, info, err)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := Write(loop, text("x")); err == nil {
		t.Errorf("a loop of links: %v", err)
	}
	socket := filepath.Join(dir, "socket")
	l := must.Get(net.Listen("unix", socket))(t)
	defer l.Close()
	for _, path := range []string{os.DevNull, socket} {
		for _, err := range []error{Write(path, text("x")), Probe(path)} {
			if !errors.Is(err, ErrSpecial) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestSame: files that exist are one by whatever links, and those that do not by their paths.
func TestSame(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Succeed(t, errors.Join(os.Mkdir("sub", 0o777), os.WriteFile("a", nil, 0o666), os.WriteFile("b", nil, 0o666)))
	here := must.Get(os.Getwd())(t)
	same := [][2]string{{"a", "a"}, {"a", "./a"}, {"a", "sub/../a"}, {"a", here + "/a"}, {"new", "./new"},
		{"sub/../new", here + "/new"}}
	if err := errors.Join(os.Symlink("a", "soft"), os.Symlink("new", "dangling"),
		os.Symlink("sub", "folder")); err == nil {
		same = append(same, [2]string{"soft", "a"}, [2]string{"dangling", "new"}, [2]string{"folder/x", "sub/x"})
	}
	for _, p := range same {
		if x, y := Canonical(p[0]), Canonical(p[1]); x != y {
			t.Errorf("%s and %s are one file, not %s and %s", p[0], p[1], x, y)
		}
	}
	for _, p := range [][2]string{{"a", "b"}, {"a", "new"}, {"new", "newer"}, {"new", "sub/new"}} {
		if Canonical(p[0]) == Canonical(p[1]) {
			t.Errorf("%s and %s are not one file", p[0], p[1])
		}
	}
}

// TestAllOrNone: files take their names together; one that fails, and Discard while one is written,
// leave the old ones and nothing else.
func TestAllOrNone(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	must.Succeed(t, Write(a, text("old")))
	broken := errors.New("broken")
	var f Files
	must.Succeed(t, f.Add(a, text("new")))
	if err := f.Add(b, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	f.Discard()
	only(t, a, "old")
	f = Files{}
	must.Succeed(t, f.Add(a, text("new")))
	if err := f.Add(b, func(w io.Writer) error {
		f.Discard() // of another goroutine, before the process ends
		return text("x")(w)
	}); err != nil {
		t.Log(err)
	}
	if written, err := f.Commit(); len(written) > 0 {
		t.Error(written, err)
	}
	if err := f.Add(b, text("x")); !errors.Is(err, errEnded) {
		t.Errorf("a file behind the end: %v", err)
	}
	only(t, a, "old")
	f = Files{}
	must.Succeed(t, errors.Join(f.Add(a, text("new")), f.Add(b, text("newer"))))
	names := must.Get(f.Commit())(t)
	f.Discard() // no file with a name of its own
	for path, want := range map[string]string{a: "new", b: "newer"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want || len(names) != 2 {
			t.Errorf("%s: %q, %v; written %q", path, got, err, names)
		}
	}
}
