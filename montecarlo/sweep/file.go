package sweep

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"belsim/theory/base/inputfile"
)

// A result file holds a line of JSON that says what it is, a line for each [Result], and a
// last line with their number and the SHA-256 of all the bytes before it. It is only
// ever replaced as a whole.

// format is the version of the layout of result files.
const format = 2

// header is the first line of a result file.
type header struct {
	Format         int             `json:"belsim_sweep"`
	PlanID         string          `json:"plan_id"`
	Shard          int             `json:"shard"` // from 1
	Shards         int             `json:"shards"`
	NumericVersion int             `json:"numeric_version"`
	Plan           json.RawMessage `json:"plan"`
}

// lastLine is the last line of a file with a number of results.
func lastLine(results int, digest hash.Hash) []byte {
	return fmt.Appendf(nil, "{\"results\":%d,\"sha256\":\"%x\"}\n", results, digest.Sum(nil))
}

// maxLine is larger than the longest line, which has the sums of the largest code.
const maxLine = 64 << 20

// FileName is the name of a shard's result file.
func FileName(planID string, shard, shards int) string {
	return fmt.Sprintf("sweep-%s-%d-of-%d.jsonl", planID[:min(12, len(planID))], shard, shards)
}

// fileName matches the names of result files: the plan, the shard and the number of shards.
var fileName = regexp.MustCompile(`^sweep-([^-]*)-([0-9]{1,10})-of-([0-9]{1,10})\.jsonl$`)

// resultFiles returns the names of the result files in a folder, of all plans, in order. Each is
// followed by what fileName finds in it.
func resultFiles(dir string) (files [][]string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if found := fileName.FindStringSubmatch(e.Name()); found != nil {
			files = append(files, found)
		}
	}
	return files, err
}

// damaged is the error for a file that has changed since it was written.
func damaged(path, format string, a ...any) error {
	return fmt.Errorf("%s: %s; remove it, and its cells are computed again", path, fmt.Sprintf(format, a...))
}

// reader reads a result file. Its lines can be trusted only after it has returned io.EOF,
// because the checksum is at the end.
type reader struct {
	header header
	path   string
	file   inputfile.File
	in     *bufio.Scanner
	digest hash.Hash
	number int // lines before the next
}

// openReader opens a file and reads its header.
func openReader(path string) (*reader, error) {
	file, err := inputfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, file: file, in: bufio.NewScanner(file), digest: sha256.New()}
	r.in.Buffer(make([]byte, 1<<16), maxLine)
	r.in.Split(wholeLine)
	text, err := r.line()
	switch {
	case err != nil:
	case json.Unmarshal(text, &r.header) != nil || r.header.Format == 0:
		err = damaged(path, "is no result file: line 1 does not say so")
	case r.header.Format != format:
		err = fmt.Errorf("%s: is a result file of format %d; this belsim reads format %d", path, r.header.Format, format)
	default:
		r.digest.Write(text)
		return r, nil
	}
	file.Close()
	return nil, err
}

// wholeLine splits a text into lines with their line breaks. A last line without one is an error.
func wholeLine(data []byte, atEOF bool) (int, []byte, error) {
	n := bytes.IndexByte(data, '\n') + 1
	switch {
	case n > 0:
		return n, data[:n], nil
	case atEOF && len(data) > 0:
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// line reads a line with its line break. It is valid until the next call.
func (r *reader) line() ([]byte, error) {
	if r.in.Scan() {
		r.number++
		return r.in.Bytes(), nil
	}
	switch err := r.in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, damaged(r.path, "line %d has more than %d bytes", r.number+1, maxLine)
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, damaged(r.path, "is truncated in line %d: the last line, with the checksum, is missing", r.number+1)
	default:
		return nil, fmt.Errorf("reading %s: %w", r.path, err)
	}
}

// next returns the line of the next result. After the last, it checks the checksum and
// returns io.EOF.
func (r *reader) next() ([]byte, error) {
	text, err := r.line()
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(text, []byte(`{"results":`)) {
		r.digest.Write(text)
		return text, nil
	}
	if !bytes.Equal(text, lastLine(r.number-2, r.digest)) {
		return nil, damaged(r.path, "was edited: its checksum does not match its lines")
	}
	if r.in.Scan() || r.in.Err() != nil {
		return nil, damaged(r.path, "goes on after its last line, %d", r.number)
	}
	return nil, io.EOF
}

func (r *reader) Close() error { return r.file.Close() }

// check refuses a file of another plan or of another version than this sweep.
func (s *Sweep) check(h header, path string) error {
	name := FileName(h.PlanID, h.Shard, h.Shards)
	switch {
	case h.Shard < 1 || h.Shard > h.Shards:
		return damaged(path, "is shard %d of %d", h.Shard, h.Shards)
	case h.NumericVersion != s.NumericVersion:
		return fmt.Errorf("%s: has numbers of version %d, but this belsim computes version %d: they must not be mixed", path, h.NumericVersion, s.NumericVersion)
	case h.PlanID != s.ID:
		return s.foreign(path, h.PlanID)
	case filepath.Base(path) != name:
		return fmt.Errorf("%s: is shard %d of %d of plan %.12s, and should be called %s", path, h.Shard, h.Shards, h.PlanID, name)
	}
	return nil
}

// foreign is the error for a file of another plan.
func (s *Sweep) foreign(path, plan string) error {
	return fmt.Errorf("%s: is of another plan (%.12s, not %.12s); every plan needs its own folder", path, plan, s.ID)
}

// scan reads the whole of a result file and calls each with every line.
func (s *Sweep) scan(path string, each func(f finished) error) (header, error) {
	r, err := openReader(path)
	if err != nil {
		return header{}, err
	}
	defer r.Close()
	if err := s.check(r.header, path); err != nil {
		return header{}, err
	}
	var wrong error // of the first line that is wrong
	for {
		text, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return r.header, wrong
		case err != nil:
			return header{}, err
		case wrong != nil:
			continue // an edited file has a wrong checksum, and the error should say that
		}
		f, err := s.read(text)
		if err == nil && s.numberOf(f.Piece)%r.header.Shards != r.header.Shard-1 {
			err = fmt.Errorf("%s is not in shard %d of %d", s.describe(f.Task), r.header.Shard, r.header.Shards)
		}
		if err == nil {
			err = each(f)
		}
		if err != nil {
			wrong = damaged(path, "line %d: %v", r.number, err)
		}
	}
}
