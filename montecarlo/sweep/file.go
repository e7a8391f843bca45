package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"

	"belsim/montecarlo/plane"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/memory"
	"belsim/theory/base/table"
)

// A result file holds a line of JSON that says what it is, a line for each result, and a
// last line with their number and the SHA-256 of all the bytes before it. It is only
// ever replaced as a whole.

// format is the version of the layout of result files.
const format = 9

// header is the first line of a result file.
type header struct {
	Format int             `json:"belsim_sweep"`
	PlanID string          `json:"plan_id"`
	Shard  int             `json:"shard"` // from 1
	Shards int             `json:"shards"`
	Plan   json.RawMessage `json:"plan"`
}

// result is a line of a result file. Equal results are equal bytes.
type result struct {
	Cell int `json:"cell"` // from 0
	Numbers
}

// shardFile is the name of a shard's result file.
func shardFile(planID string, shard, shards int) string {
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

// lastLine is the last line of a file with the given lines before it.
func lastLine(body []byte) []byte {
	return fmt.Appendf(nil, "{\"results\":%d,\"sha256\":\"%x\"}\n", bytes.Count(body, []byte("\n"))-1,
		sha256.Sum256(body))
}

// readFile returns the header of a result file, and the lines of its results with their line
// breaks. It refuses a file that has changed since it was written.
func readFile(path string) (h header, lines [][]byte, err error) {
	file, err := inputfile.OpenRegular(path)
	if err != nil {
		return h, nil, err
	}
	defer file.Close()
	if err := memory.Check(path, 2*file.Size()); err != nil {
		return h, nil, err
	}
	text := make([]byte, file.Size())
	if _, err := io.ReadFull(file, text); err != nil {
		return h, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	end := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1 // of the lines before the last
	switch lines = bytes.SplitAfter(text[:end], []byte("\n")); {
	case !bytes.HasPrefix(text[end:], []byte(`{"results":`)):
		return h, nil, damaged(path, "is truncated: the last line, with the checksum, is missing")
	case !bytes.Equal(text[end:], lastLine(text[:end])):
		return h, nil, damaged(path, "was edited: its checksum does not match its lines")
	case json.Unmarshal(lines[0], &h) != nil || h.Format == 0:
		return h, nil, damaged(path, "is no result file: line 1 does not say so")
	case h.Format != format:
		return h, nil, fmt.Errorf("%s: is a result file of format %d; this belsim reads format %d", path, h.Format,
			format)
	}
	return h, lines[1 : len(lines)-1], nil
}

// scan reads a result file of this sweep and calls each with every result. text is its line.
func (s *Sweep) scan(path string, each func(r result, text []byte) error) (header, error) {
	h, lines, err := readFile(path)
	if err != nil {
		return h, err
	}
	switch name := shardFile(h.PlanID, h.Shard, h.Shards); {
	case h.PlanID != s.ID:
		return h, s.foreign(path, h.PlanID)
	case filepath.Base(path) != name:
		return h, fmt.Errorf("%s: is shard %d of %d of plan %.12s, and should be called %s", path, h.Shard, h.Shards,
			h.PlanID, name)
	case h.Shard < 1 || h.Shard > h.Shards:
		return h, damaged(path, "is shard %d of %d", h.Shard, h.Shards)
	}
	last, places := -1, s.places()
	for i, text := range lines {
		r := result{-1, unsampled(math.NaN(), false)} // null in JSON stands for NaN
		err := json.Unmarshal(text, &r)
		switch {
		case err != nil:
		case r.Cell < 0 || r.Cell >= s.size:
			err = fmt.Errorf("cell %d of %d", r.Cell, s.size)
		case r.Cell <= last || places[r.Cell]%h.Shards != h.Shard-1:
			err = fmt.Errorf("cell %d is not the next of shard %d of %d", r.Cell, h.Shard, h.Shards)
		default:
			last, err = r.Cell, s.check(r, text)
		}
		if err == nil {
			err = each(r, text)
		}
		if err != nil {
			return h, damaged(path, "line %d: %v", i+2, err)
		}
	}
	return h, nil
}

// check refuses a line that is not as belsim writes it, and numbers that the method of a cell does not give.
func (s *Sweep) check(r result, text []byte) error {
	if own, err := table.JSON(r); err != nil || string(own) != string(bytes.TrimSuffix(text, []byte("\n"))) {
		return fmt.Errorf("is not as belsim writes it: want %s", own)
	}
	sampled := r.Valid && s.task(r.Cell).Method == plane.Sample
	for _, of := range []struct {
		name        string
		given, want bool
	}{
		{"mean", !math.IsNaN(r.Mean) || r.Valid && !sampled, r.Valid}, // an exact one may be missing
		{"stderr", !math.IsNaN(r.StdErr), sampled},
		{"rms", !math.IsNaN(r.RMS) && !sampled, false},
		{"worst_level", r.WorstLevel != nil, sampled},
		{"worst_mean", !math.IsNaN(r.WorstMean), sampled},
		{"samples", r.Samples != nil, sampled},
		{"reached", r.Reached != nil, sampled && s.RelErr > 0},
	} {
		if of.given != of.want {
			return fmt.Errorf("%s has %s%s", s.describe(r.Cell), map[bool]string{true: "no "}[of.want], of.name)
		}
	}
	return nil
}

// foreign is the error for a file of another plan.
func (s *Sweep) foreign(path, plan string) error {
	return fmt.Errorf("%s: is of another plan (%.12s, not %.12s); every plan needs its own folder", path, plan, s.ID)
}
