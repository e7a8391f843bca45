// Package safefile writes files that no reader ever sees half-written. A file is written
// under a temporary name in its own folder, and takes its final name when its contents
// are safely on disk. Where writing fails, the file that was there stays as it was, and
// the temporary one is removed.
//
// A process that is killed leaves its temporary file. Its name says which file it was
// for, and which process of which machine made it:
//
//	.FILE.HOST.PID.RANDOM.tmp
//
// [IsTemporary] and [IsAbandoned] recognize these names.
package safefile

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Options say how a file is written.
type Options struct {
	// KeepExisting refuses to replace a file, also one that appears while the new one
	// is written: the error then is fs.ErrExist.
	KeepExisting bool
}

// Write writes the file at path. fill writes the contents to w, which is buffered. The file's
// permissions are 0666 less the umask.
//
// Errors of fill and of the file system are wrapped with the path: errors.Is and errors.As
// find them. The error is fs.ErrNotExist also where another process removed the temporary file
// as abandoned.
func Write(path string, o Options, fill func(w io.Writer) error) error {
	if err := write(path, o, fill); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func write(path string, o Options, fill func(w io.Writer) error) error {
	file, err := create(path, rand.Text)
	if err != nil {
		return err
	}
	placed := false
	defer func() {
		if !placed { // also where fill panics
			file.Close()
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
	if err := file.Close(); err != nil {
		return err
	}
	if o.KeepExisting {
		// Link refuses to replace a file; Rename would replace it.
		if err := os.Link(file.Name(), path); err != nil {
			return err
		}
		os.Remove(file.Name()) // where it cannot be removed, it does no harm
	} else if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	placed = true
	return syncFolder(filepath.Dir(path))
}

// Probe reports whether Write could make a file at path, by making a temporary file and
// removing it.
func Probe(path string) error {
	file, err := create(path, rand.Text)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := errors.Join(file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// create makes the temporary file. It never opens a file or a link that is there.
func create(path string, random func() string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for tries := 0; ; tries++ {
		name := dir + fmt.Sprintf("%s%d.%s%s", own(base), os.Getpid(), random(), ending)
		// Not os.CreateTemp: its files are private, and results are shared.
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || tries == 3 || !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
}

const ending = ".tmp"

// prefix is the start of the names of a file's temporary files.
func prefix(base string) string { return "." + shortened(base, 64) + "." }

// own is the start of those that processes of this machine make.
func own(base string) string { return prefix(base) + host() + "." }

// shortened returns a text of at most n bytes: the text itself, or its start and a hash.
// Temporary names must fit where a file's own name just does.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	hash := "~" + hex.EncodeToString(sum[:8])
	cut := n - len(hash)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + hash
}

// IsTemporary reports whether a name in the folder of path is the name of one of its temporary
// files, of any process.
func IsTemporary(path, name string) bool {
	rest, ok := strings.CutPrefix(name, prefix(filepath.Base(path)))
	rest, end := strings.CutSuffix(rest, ending)
	if !ok || !end {
		return false
	}
	// The host and the random text have no dots. The temporary files of a file called FILE.x
	// start like the temporary files of FILE, but have one more part.
	parts := strings.Split(rest, ".")
	if len(parts) != 3 {
		return false
	}
	_, err := strconv.Atoi(parts[1])
	return err == nil
}

// IsAbandoned reports whether a name in the folder of path is the name of one of its temporary
// files that nobody will complete: it was made by a process of this machine that has ended, or
// by a process with the number of this process. Do not call it while this process writes the
// file.
func IsAbandoned(path, name string) bool {
	if !IsTemporary(path, name) {
		return false
	}
	rest, here := strings.CutPrefix(name, own(filepath.Base(path)))
	if !here {
		return false
	}
	digits, _, _ := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(digits)
	return err == nil && (pid == os.Getpid() || !alive(pid))
}

// host is the name of this machine, in letters that a file's name can have.
func host() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "host"
	}
	return shortened(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name), 64)
}
