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
	"strings"

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

// Write writes the file at path with what fill writes to w, which is buffered. The
// permissions of a file that was not there are 0666 less the umask.
//
// Errors of fill and of the file system are wrapped with the path: errors.Is and errors.As
// find them.
func Write(path string, fill func(w io.Writer) error) error {
	if err := write(path, fill); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func write(name string, fill func(w io.Writer) error) error {
	path, err := resolve(name)
	if err != nil {
		return err
	}
	file, err := create(path)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		file.Close()
		if !placed { // also where fill panics
			os.Remove(file.Name())
		}
	}()
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
	if err := file.Close(); err != nil { // not all systems rename a file that is open
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	placed = true
	return syncFolder(filepath.Dir(path))
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
