package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"belsim/theory/base/safefile"
	"belsim/theory/base/table"
)

// Shard is a part of a sweep, with its result file.
//
// Several processes may work on one shard by accident. Every process computes the same numbers and
// replaces the whole file, so the one that ends last leaves it complete.
type Shard struct {
	*Plan
	Index, Count int   // Index from 1
	All          int   // the number of its cells
	Todo         []int // those that the file did not have when it was opened, in the order of the plan
	// Write writes a whole file, as safefile.Write does.
	Write func(path string, fill func(io.Writer) error) error

	path  string
	mu    sync.Mutex
	lines map[int][]byte // by cell
	safe  int            // lines that are in the file
}

// Open prepares shard i of n of a sweep, i from 1, with its file in a folder. It makes the
// folder where there is none. It refuses a folder with files of another plan.
func (p *Plan) Open(dir string, i, n int) (*Shard, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of results: %w", err)
	}
	files, err := resultFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, found := range files {
		if found[1] != p.ID[:12] {
			return nil, p.foreign(filepath.Join(dir, found[0]), found[1])
		}
	}
	h := &Shard{Plan: p, Index: i, Count: n, path: filepath.Join(dir, shardFile(p.ID, i, n)), lines: map[int][]byte{},
		Write: safefile.Write}
	if _, err := h.scan(h.path, func(r result, text []byte) error {
		h.lines[r.Cell] = text
		return nil
	}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	h.Todo, h.safe = p.part(i, n), len(h.lines)
	h.All = len(h.Todo)
	h.Todo = slices.DeleteFunc(h.Todo, func(t int) bool { return h.lines[t] != nil })
	return h, nil
}

// Path returns the path of the result file.
func (h *Shard) Path() string { return h.path }

// add stores the numbers of a cell; the next flush writes them.
func (h *Shard) add(cell int, numbers Numbers) error {
	text, err := table.JSON(result{cell, numbers})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines[cell] = append(text, '\n')
	return err
}

// keep flushes until the context ends or a flush fails, and returns the error: soon, and then ever
// less often, until it is every 10 seconds. A flush rewrites the whole file, so flushes take at most a
// twentieth of the time.
func (h *Shard) keep(ctx context.Context) error {
	wait := 10 * time.Millisecond
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
			start := time.Now()
			if err := h.flush(); err != nil {
				return err
			}
			wait = max(min(2*wait, 10*time.Second), 20*time.Since(start))
		}
	}
}

// flush replaces the file by one that has all lines, where it lacks some. When flush fails, the
// file does not change.
func (h *Shard) flush() error {
	h.mu.Lock()
	lines := maps.Clone(h.lines)
	h.mu.Unlock()
	if len(lines) == h.safe {
		return nil
	}
	body, err := h.body(lines)
	if err != nil {
		return err
	}
	if err := h.Write(h.path, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}); err != nil {
		return err
	}
	h.safe = len(lines)
	return nil
}

// body is a whole result file with the lines of some cells, in the order of the plan.
func (h *Shard) body(lines map[int][]byte) ([]byte, error) {
	plan, err := json.Marshal(h.Definition)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(header{format, h.ID, h.Index, h.Count, plan})
	if err != nil {
		return nil, err
	}
	body := append(head, '\n')
	for _, cell := range slices.Sorted(maps.Keys(lines)) {
		body = append(body, lines[cell]...)
	}
	return append(body, lastLine(body)...), nil
}
