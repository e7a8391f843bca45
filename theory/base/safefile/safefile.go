// Package safefile writes files that no reader ever sees half-written. A file is written
// under a temporary name in its own folder, and takes its final name when its contents
// are safely on disk. Where writing fails, the file that was there stays as it was, and
// the temporary one is removed.
//
// A link is followed: Write replaces the file that it points to. Write never replaces a named pipe,
// a device or a socket, or a file that may not be written. A new file keeps the permissions of the
// one that it replaces, and its owner and group as far as the system lets it; where the group
// cannot be kept, it has no more permissions than others. The setuid, setgid and sticky bits, lists
// of access control and further hard links stay behind.
//
// A process that is killed leaves its temporary file, whose name says which file it was for:
//
//	.FILE.RANDOM.tmp
package safefile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"belsim/theory/base/inputfile"
)

// ErrSpecial says that a path is a folder, a named pipe, a device or a socket.
var ErrSpecial = errors.New("not a regular file")

// resolve returns the path of the file that Write would make or replace: path itself, or
// where path is a link, what it points to. The error is ErrSpecial where there is something
// else than a file.
func resolve(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		target, err := os.Readlink(path)
		if err != nil { // no link: the file will be made
			return path, nil
		}
		if !filepath.IsAbs(target) {
			// Not filepath.Join: it would remove "link/..", which may be another folder.
			dir, _ := filepath.Split(path)
			target = dir + target
		}
		return resolve(target)
	case err != nil:
		return "", err
	case info.Mode().IsRegular():
		return filepath.EvalSymlinks(path)
	}
	return "", fmt.Errorf("%w: it is %s", ErrSpecial, inputfile.Kind(info.Mode()))
}

// Files are files that are written all or none: each is written under its temporary name, and all
// take their final names together. The zero value has none. It is safe for concurrent use.
type Files struct {
	mu        sync.Mutex
	temporary []string // names of files that are written, or have no final name yet
	ready     []ready
	ended     bool
}

// ready is a file that is written.
type ready struct{ temporary, path, named string }

// errEnded is the error of writing after Discard.
var errEnded = errors.New("the files are discarded")

// Write writes the file at path with what fill writes to w, which is buffered. The
// permissions of a file that was not there are 0666 less the umask.
//
// Errors of fill and of the file system are wrapped with the path: errors.Is and errors.As
// find them.
func Write(path string, fill func(w io.Writer) error) error {
	var f Files
	defer f.Discard() // also where fill panics
	return f.Write(path, fill)
}

// Write is Write for a file that Discard knows.
func (f *Files) Write(path string, fill func(w io.Writer) error) error {
	if err := f.Add(path, fill); err != nil {
		return err
	}
	_, err := f.Commit()
	return err
}

// Add is Write for a file that takes its name with Commit.
func (f *Files) Add(path string, fill func(w io.Writer) error) error {
	if err := f.add(path, fill); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func (f *Files) add(named string, fill func(w io.Writer) error) (err error) {
	path, err := resolve(named)
	if err != nil {
		return err
	}
	file, err := f.create(path)
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		if err != nil {
			f.remove(file.Name())
		}
	}()
	if err := fillFile(file, fill); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return errEnded
	}
	f.ready = append(f.ready, ready{file.Name(), path, named})
	return nil
}

// fillFile fills a file, safely on disk, and closes it.
func fillFile(file *os.File, fill func(w io.Writer) error) error {
	w := bufio.NewWriterSize(file, 1<<16)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return file.Close() // not all systems rename a file that is open
}

// create makes a temporary file, which Discard knows.
func (f *Files) create(path string) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil, errEnded
	}
	file, err := create(path)
	if err == nil {
		f.temporary = append(f.temporary, file.Name())
	}
	return file, err
}

// remove removes a temporary file.
func (f *Files) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.temporary = slices.DeleteFunc(f.temporary, func(other string) bool { return other == name })
	os.Remove(name)
}

// Commit gives all files that were added their final names, and returns those that have them. The
// error says which one cannot have its name.
func (f *Files) Commit() (written []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.ready
	f.ready = nil
	for _, r := range all {
		if err = os.Rename(r.temporary, r.path); err == nil {
			f.temporary = slices.DeleteFunc(f.temporary, func(name string) bool { return name == r.temporary })
			err = syncFolder(filepath.Dir(r.path))
		}
		if err != nil {
			return written, fmt.Errorf("writing %s: %w", r.named, err)
		}
		written = append(written, r.named)
	}
	return written, nil
}

// Discard removes all files that have no final name, also one that is being written: before a
// process ends, for example. Nothing can be added behind it.
func (f *Files) Discard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range f.temporary {
		os.Remove(name)
	}
	f.temporary, f.ready, f.ended = nil, nil, true
}

// Probe reports whether Write could make or replace a file at path, by making a temporary file and
// removing it.
func Probe(path string) error {
	target, err := resolve(path)
	if err == nil {
		var file *os.File
		if file, err = create(target); err == nil {
			err = errors.Join(file.Close(), os.Remove(file.Name()))
		}
	}
	if temporary := new(fs.PathError); errors.As(err, &temporary) {
		err = temporary.Err
	}
	if err != nil {
		return &fs.PathError{Op: "writing", Path: path, Err: err}
	}
	return nil
}

// create makes the temporary file for a path. It never opens a file or a link that has the
// temporary name.
func create(path string) (*os.File, error) {
	const most = 64 // bytes of a long name: a file's own name may just fit
	dir, base := filepath.Split(path)
	base = strings.ToValidUTF8(base[:min(most, len(base))], "")
	name, flags := dir+"."+base+"."+rand.Text()+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL
	old, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return os.OpenFile(name, flags, 0o666) // not os.CreateTemp: its files are private, and results are shared
	}
	if err != nil {
		return nil, err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, flags, 0o600) // nobody else opens it before it is like the old one
	if err == nil {
		likeOld(file, info)
	}
	return file, err
}

// Canonical returns the path of the file that Write would make or replace, without links: two paths
// of one file have the same one.
func Canonical(path string) string {
	if at, err := resolve(path); err == nil {
		path = at
	}
	if at, err := filepath.Abs(path); err == nil {
		path = at
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return path
}
