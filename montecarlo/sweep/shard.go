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
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"belsim/theory/base/safefile"
)

// Shard is a part of a sweep, with its result file. Its methods are safe for concurrent
// use.
//
// Several processes may work on one shard by accident. Each replaces the file by a file
// that has the results of both. Where two do so at the same moment, the results of one may
// be missing in the file, and Todo then lists their pieces. Every process computes the same
// numbers.
type Shard struct {
	Sweep         *Sweep
	Index, Count  int // Index from 1
	path          string
	header        []byte
	mu            sync.Mutex
	pending       map[key][]byte // lines that are not yet in the file
	flushing      sync.Mutex
	lastFlushTook time.Duration
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
	_, foreign, _, err := s.listing(dir)
	if err != nil {
		return nil, err
	}
	if len(foreign) > 0 {
		return nil, s.refuseForeign(filepath.Join(dir, foreign[0]))
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
		header: append(head, '\n'), pending: map[key][]byte{},
	}
	safefile.RemoveAbandoned(h.path)
	return h, nil
}

// Path returns the path of the result file.
func (h *Shard) Path() string { return h.path }

// Todo returns the pieces of the shard that its file does not have, in the order of the
// plan, and the number of all its pieces. Pending results do not count as in the file.
func (h *Shard) Todo() (todo []Piece, all int, err error) {
	have := map[Piece]bool{}
	_, err = h.Sweep.scan(h.path, func(p Piece, text []byte) error {
		if have[p] {
			return fmt.Errorf("%s is there twice", h.Sweep.describe(p.Task))
		}
		have[p] = true
		_, err := h.Sweep.decode(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	pieces := h.Sweep.Part(h.Index, h.Count)
	for _, p := range pieces {
		if !have[p] {
			todo = append(todo, p)
		}
	}
	return todo, len(pieces), nil
}

// Probe reports whether the folder can be written to.
func (h *Shard) Probe() error { return safefile.Probe(h.path) }

// Add stores a result; the next Flush writes it.
func (h *Shard) Add(r Result) {
	text := h.Sweep.encode(r)
	h.mu.Lock()
	h.pending[key{h.Sweep.ids[r.Task], r.Part}] = text
	h.mu.Unlock()
}

// FlushEvery is the usual time between flushes.
const FlushEvery = 10 * time.Second

// Keep flushes at regular times until the context ends or a flush fails, and returns the
// error. A flush rewrites the whole file. Where this takes long, Keep flushes less often, so
// that flushes take at most a twentieth of the time.
func (h *Shard) Keep(ctx context.Context, every time.Duration) error {
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			if err := h.Flush(); err != nil {
				return err
			}
			timer.Reset(max(every, 20*h.lastFlushTook))
		}
	}
}

// Flush writes the pending results into the file. It writes a new file under a temporary
// name in the same folder. When this file is safely on disk, it replaces the old one. When
// Flush fails, the file does not change, and the results stay pending.
func (h *Shard) Flush() error {
	h.flushing.Lock()
	defer h.flushing.Unlock()
	h.mu.Lock()
	lines := h.pending
	h.pending = map[key][]byte{}
	h.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	start := time.Now()
	err := h.replace(lines)
	for range 2 {
		// A process that finished the shard has removed our temporary file.
		if errors.Is(err, fs.ErrNotExist) {
			err = h.replace(lines)
		}
	}
	h.lastFlushTook = time.Since(start)
	if err != nil {
		h.mu.Lock()
		for k, text := range lines {
			h.pending[k] = text
		}
		h.mu.Unlock()
		return err
	}
	return nil
}

// replace writes the file again, with its present lines and the given lines.
func (h *Shard) replace(lines map[key][]byte) error {
	return safefile.Write(h.path, func(w io.Writer) error { return h.write(w, lines) })
}

// write writes a whole file: the lines of the present file, then the given lines that are
// not among them.
func (h *Shard) write(out io.Writer, lines map[key][]byte) error {
	digest := sha256.New()
	both := io.MultiWriter(out, digest)
	if _, err := both.Write(h.header); err != nil {
		return err
	}
	results := 0
	written := map[key]bool{}
	var full error // an error of the new file, not of the old one
	_, err := h.Sweep.scan(h.path, func(p Piece, text []byte) error {
		k := key{h.Sweep.ids[p.Task], p.Part}
		if own, ok := lines[k]; ok {
			if !bytes.Equal(own, text) {
				return fmt.Errorf("%s has other numbers than were computed now", h.Sweep.describe(p.Task))
			}
			written[k] = true
		}
		results++
		_, full = both.Write(text)
		return full
	})
	if full != nil {
		return full
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for k, text := range lines {
		if !written[k] {
			results++
			if _, err := both.Write(text); err != nil {
				return err
			}
		}
	}
	last, err := lastLine(results, digest)
	if err != nil {
		return err
	}
	_, err = out.Write(last)
	return err
}

// Finish removes all temporary files of this shard, of all processes. Call it when the
// shard is complete.
func (h *Shard) Finish() {
	dir := filepath.Dir(h.path)
	_, _, all, err := h.Sweep.listing(dir)
	if err != nil {
		return // files that stay do no harm
	}
	for _, name := range all {
		if safefile.IsTemporary(h.path, name) {
			os.Remove(filepath.Join(dir, name))
		}
	}
}

// Others returns the numbers of shards N, other than the number of this shard, for which the
// folder has files of this plan.
func (h *Shard) Others() []int {
	own, _, _, err := h.Sweep.listing(filepath.Dir(h.path))
	if err != nil {
		return nil
	}
	var out []int
	for _, name := range own {
		_, last, _ := strings.Cut(strings.TrimSuffix(name, ".jsonl"), "-of-")
		if n, err := strconv.Atoi(last); err == nil && n != h.Count && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
