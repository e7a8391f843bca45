package sweep

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"belsim/theory/base/inputfile"
)

// A result file holds a line of JSON that says what it is, a line for each result, and a
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

// trailer is the last one.
type trailer struct {
	Results int    `json:"results"`
	SHA256  string `json:"sha256"`
}

// lastLine is the line of a trailer.
func lastLine(results int, digest hash.Hash) ([]byte, error) {
	text, err := json.Marshal(trailer{results, hex.EncodeToString(digest.Sum(nil))})
	return append(text, '\n'), err
}

var trailerStart = []byte(`{"results":`)

// maxLine is larger than the longest line, which has the sums of the largest code.
const maxLine = 64 << 20

// FileName is the name of a shard's result file.
func FileName(planID string, shard, shards int) string {
	return fmt.Sprintf("sweep-%s-%d-of-%d.jsonl", planID[:min(12, len(planID))], shard, shards)
}

// isFileName reports whether a name is the name of a result file of any plan, and returns
// the digits of the plan in it.
func isFileName(name string) (plan string, ok bool) {
	rest, found := strings.CutPrefix(name, "sweep-")
	rest, ending := strings.CutSuffix(rest, ".jsonl")
	parts := strings.Split(rest, "-")
	if !found || !ending || len(parts) != 4 || parts[2] != "of" {
		return "", false
	}
	_, err1 := strconv.ParseUint(parts[1], 10, 32)
	_, err2 := strconv.ParseUint(parts[3], 10, 32)
	return parts[0], err1 == nil && err2 == nil
}

// damaged is the error for a file that has changed since it was written.
func damaged(path, what string) error {
	return fmt.Errorf("%s: %s; remove it, and its cells are computed again", path, what)
}

// reader reads a result file. Its lines can be trusted only after it has returned io.EOF,
// because the checksum is at the end.
type reader struct {
	header header
	first  []byte // the line of the header
	path   string
	file   inputfile.File
	in     *bufio.Reader
	digest hash.Hash
	number int // lines before the next
}

func openReader(path string) (*reader, error) {
	file, err := inputfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, file: file, in: bufio.NewReaderSize(file, 1<<16), digest: sha256.New()}
	if err := r.readHeader(); err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

func (r *reader) readHeader() error {
	text, err := r.line()
	if err != nil {
		return err
	}
	r.digest.Write(text)
	r.first = text
	if json.Unmarshal(text, &r.header) != nil || r.header.Format == 0 {
		return damaged(r.path, "is no result file: line 1 does not say so")
	}
	if r.header.Format != format {
		return fmt.Errorf("%s: is a result file of format %d; this belsim reads format %d", r.path, r.header.Format, format)
	}
	return nil
}

// line reads a line with its line break.
func (r *reader) line() ([]byte, error) {
	var text []byte
	for {
		part, err := r.in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			r.number++
			return text, nil
		case errors.Is(err, bufio.ErrBufferFull) && len(text) <= maxLine:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, damaged(r.path, fmt.Sprintf("line %d has more than %d bytes", r.number+1, maxLine))
		case errors.Is(err, io.EOF):
			return nil, damaged(r.path, fmt.Sprintf("is truncated in line %d: the last line, with the checksum, is missing", r.number+1))
		}
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
	if !bytes.HasPrefix(text, trailerStart) {
		r.digest.Write(text)
		return text, nil
	}
	want, err := lastLine(r.number-2, r.digest)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(text, want) {
		return nil, damaged(r.path, "was edited: its checksum does not match its lines")
	}
	if _, err := r.in.ReadByte(); err == nil {
		return nil, damaged(r.path, fmt.Sprintf("goes on after its last line, %d", r.number))
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %s: %w", r.path, err)
	}
	return nil, io.EOF
}

func (r *reader) Close() error { return r.file.Close() }

// check refuses a file of another plan or of another version than this sweep.
func (s *Sweep) check(h header, path string) error {
	switch {
	case h.Shard < 1 || h.Shard > h.Shards:
		return damaged(path, fmt.Sprintf("is shard %d of %d", h.Shard, h.Shards))
	case h.NumericVersion != s.NumericVersion:
		return fmt.Errorf("%s: has numbers of version %d, but this belsim computes version %d: they must not be mixed", path, h.NumericVersion, s.NumericVersion)
	case h.PlanID != s.ID:
		return fmt.Errorf("%s: is of another plan (%.12s, not %.12s); every plan needs its own folder", path, h.PlanID, s.ID)
	case filepath.Base(path) != FileName(h.PlanID, h.Shard, h.Shards):
		return fmt.Errorf("%s: is shard %d of %d of plan %.12s, and should be called %s", path, h.Shard, h.Shards, h.PlanID, FileName(h.PlanID, h.Shard, h.Shards))
	}
	return nil
}

// scan reads the whole of a result file and calls each with every line and its piece.
func (s *Sweep) scan(path string, each func(p Piece, text []byte) error) (header, error) {
	r, err := openReader(path)
	if err != nil {
		return header{}, err
	}
	defer r.Close()
	if err := s.check(r.header, path); err != nil {
		return header{}, err
	}
	for {
		text, err := r.next()
		if errors.Is(err, io.EOF) {
			return r.header, nil
		}
		if err != nil {
			return header{}, err
		}
		var p Piece
		k, err := keyOf(text)
		if err == nil {
			p, err = s.piece(k)
		}
		if err == nil && s.number(p)%r.header.Shards != r.header.Shard-1 {
			err = fmt.Errorf("%s is not in shard %d of %d", s.describe(p.Task), r.header.Shard, r.header.Shards)
		}
		if err == nil {
			err = each(p, text)
		}
		if err != nil {
			line := r.number
			// Read on: an edited file has a wrong checksum, and the error should say that.
			for {
				if _, end := r.next(); errors.Is(end, io.EOF) {
					return header{}, damaged(path, fmt.Sprintf("line %d: %v", line, err))
				} else if end != nil {
					return header{}, end
				}
			}
		}
	}
}

// listing returns the names of the result files in a folder, and separately the files of
// other plans.
func (s *Sweep) listing(dir string) (own, foreign, all []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	all, err = f.Readdirnames(-1)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	for _, name := range all {
		if plan, ok := isFileName(name); ok {
			if plan == s.ID[:12] {
				own = append(own, name)
			} else {
				foreign = append(foreign, name)
			}
		}
	}
	return own, foreign, all, nil
}

// refuseForeign returns an error that names the plan of a file of another plan.
func (s *Sweep) refuseForeign(path string) error {
	r, err := openReader(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := s.check(r.header, path); err != nil {
		return err
	}
	return damaged(path, "has the name of another plan")
}
