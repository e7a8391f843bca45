package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"belsim/theory/base/safefile"
)

// Shard is a part of a sweep, with its result file.
//
// Several processes may work on one shard by accident. Each replaces the file by a file
// that has the results of both. Where two do so at the same moment, the results of one may
// be missing in the file, and Todo then lists their pieces. Every process computes the same
// numbers.
type Shard struct {
	Sweep        *Sweep
	Index, Count int // Index from 1
	path         string
	header       []byte
	mu           sync.Mutex
	pending      map[Piece][]byte // lines that are not yet in the file
}

// Open prepares shard i of n of a sweep, i from 1, with its file in a folder. It makes the
// folder where there is none. It refuses a folder with files of another plan, and removes
// temporary files that killed processes of this machine left for this shard.
func (s *Sweep) Open(dir string, i, n int) (*Shard, error) {
	if i < 1 || n < 1 || i > n {
		return nil, fmt.Errorf("shard %d of %d: want 1 to %d", i, n, max(n, 1))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of results: %w", err)
	}
	files, err := resultFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, found := range files {
		if found[1] != s.ID[:12] {
			return nil, s.foreign(filepath.Join(dir, found[0]), found[1])
		}
	}
	plan, err := json.Marshal(s.Definition)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(header{format, s.ID, i, n, s.NumericVersion, plan})
	if err != nil {
		return nil, err
	}
	h := &Shard{
		Sweep: s, Index: i, Count: n, path: filepath.Join(dir, FileName(s.ID, i, n)),
		header: append(head, '\n'), pending: map[Piece][]byte{},
	}
	safefile.RemoveAbandoned(h.path)
	return h, nil
}

// Path returns the path of the result file.
func (h *Shard) Path() string { return h.path }

// Todo returns the pieces of the shard that its file does not have, in the order of the
// plan, and the number of all its pieces.
func (h *Shard) Todo() (todo []Piece, all int, err error) {
	have := map[Piece]bool{}
	_, err = h.Sweep.scan(h.path, func(f finished) error {
		if have[f.Piece] {
			return fmt.Errorf("%s is there twice", h.Sweep.describe(f.Task))
		}
		have[f.Piece] = true
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	pieces := h.Sweep.Part(h.Index, h.Count)
	all = len(pieces)
	return slices.DeleteFunc(pieces, func(p Piece) bool { return have[p] }), all, nil
}

// add stores the result of a piece; the next flush writes it.
func (h *Shard) add(p Piece, r Result) error {
	text, err := r.line()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pending[p] = text
	return err
}

// FlushEvery is the default time between flushes.
const FlushEvery = 10 * time.Second

// keep flushes at regular times until the context ends or a flush fails, and returns the
// error. A flush rewrites the whole file, so it is called less often where it takes long: flushes
// take at most a twentieth of the time.
func (h *Shard) keep(ctx context.Context, every time.Duration) error {
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			start := time.Now()
			if err := h.flush(); err != nil {
				return err
			}
			timer.Reset(max(every, 20*time.Since(start)))
		}
	}
}

// flush writes the pending results into the file. It writes a new file under a temporary
// name in the same folder. When this file is safely on disk, it replaces the old one. When
// flush fails, the file does not change, and the results stay pending.
func (h *Shard) flush() error {
	h.mu.Lock()
	lines := h.pending
	h.pending = map[Piece][]byte{}
	h.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	err := safefile.Write(h.path, func(w io.Writer) error { return h.write(w, lines) })
	if err != nil {
		h.mu.Lock()
		maps.Copy(h.pending, lines)
		h.mu.Unlock()
	}
	return err
}

// write writes a whole file: the lines of the present file, then the given lines that are
// not among them.
func (h *Shard) write(out io.Writer, lines map[Piece][]byte) error {
	digest := sha256.New()
	both := io.MultiWriter(out, digest)
	if _, err := both.Write(h.header); err != nil {
		return err
	}
	written := map[Piece]bool{}
	var full error // an error of the new file, not of the old one
	_, err := h.Sweep.scan(h.path, func(f finished) error {
		if own, ok := lines[f.Piece]; ok && !bytes.Equal(own, f.text) {
			return fmt.Errorf("%s has other numbers than were computed now", h.Sweep.describe(f.Task))
		}
		written[f.Piece] = true
		_, full = both.Write(f.text)
		return full
	})
	if full != nil {
		return full
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for p, text := range lines {
		if !written[p] {
			written[p] = true
			if _, err := both.Write(text); err != nil {
				return err
			}
		}
	}
	_, err = out.Write(lastLine(len(written), digest))
	return err
}

// Others returns the numbers of shards N, other than the number of this shard, for which the
// folder has files of this plan.
func (h *Shard) Others() []int {
	var out []int
	files, _ := resultFiles(filepath.Dir(h.path))
	for _, found := range files {
		if n, err := strconv.Atoi(found[3]); err == nil && found[1] == h.Sweep.ID[:12] && n != h.Count {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
