package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belsim/montecarlo"
	"belsim/theory/base/memory"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// Numbers are the numbers of a cell: what answers cost, over the prior, by default |error| in levels.
type Numbers struct {
	// false where the parameters give a probability above 1; there are no numbers then
	Valid bool `json:"valid"`
	// mean cost, by default |error| in levels: the bound, the exact value, or the mean of the samples
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"stderr"`
	// root of the sampled mean squared error; null below 0.016 levels, where rounding decides
	RMS float64 `json:"rms"`
	// level, from 1, with the largest mean |error|: exact where every level has an exact one, else
	// sampled
	WorstLevel *int    `json:"worst_level"`
	WorstMean  float64 `json:"worst_mean"`
	Samples    *uint64 `json:"samples"`
	// the relative standard error of the plan was reached; samples with rel_err only
	Reached *bool `json:"reached"`
}

// unsampled are the numbers of a cell without samples: its mean, or an invalid cell.
func unsampled(mean float64, valid bool) Numbers {
	none := math.NaN()
	return Numbers{Valid: valid, Mean: mean, StdErr: none, RMS: none, WorstMean: none}
}

// sampledNumbers are the numbers of a cell with the sums of its labels.
func sampledNumbers(prior []float64, sums []montecarlo.Sums) Numbers {
	o := montecarlo.Average(prior, sums)
	return Numbers{
		Valid: true, Mean: o.Mean, StdErr: o.StdErr, RMS: o.RMS,
		WorstLevel: &o.WorstLevel, WorstMean: o.WorstMean, Samples: &o.Samples,
	}
}

// Merged has the results of a sweep, merged from the files of its shards.
type Merged struct {
	*Sweep
	Files  int   // number of result files
	Shards []int // the numbers of shards N that the files are of, in ascending order

	Invalid int // number of cells where r and σ give a probability above 1

	missing int       // number of cells
	numbers []Numbers // by cell
	taken   []taken   // by cell
}

// taken says where the result of a cell is from.
type taken struct {
	file string   // "" where it is missing
	hash [16]byte // of its line
}

// Merge reads the result files in a folder. Where s is nil, the plan comes from the first
// file, and there must be one. Merge refuses files of another plan or version, and files
// that have changed since they were written. Where files have different numbers for one cell, the
// error says so.
func Merge(ctx context.Context, dir string, s *Sweep) (*Merged, error) {
	files, err := resultFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	if s == nil {
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: has no result file of a sweep, sweep-….jsonl", dir)
		}
		if s, err = planOf(filepath.Join(dir, files[0][0])); err != nil {
			return nil, err
		}
	}
	const perCell = 600 // its numbers, the hash of its line, and its row in a table
	if err := memory.Check("the results of "+position.Counted(s.size, "cell"), memory.Product(s.size, perCell)); err != nil {
		return nil, err
	}
	m := &Merged{Sweep: s, Files: len(files), missing: s.size, numbers: make([]Numbers, s.size),
		taken: make([]taken, s.size)}
	for _, found := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := s.scan(filepath.Join(dir, found[0]), func(r result, text []byte) error {
			sum := sha256.Sum256(text)
			now, before := taken{found[0], [16]byte(sum[:16])}, m.taken[r.Cell]
			if before.file != "" && before.hash != now.hash {
				return fmt.Errorf("%s has other numbers than in %s", s.describe(r.Cell), before.file)
			}
			if before.file == "" {
				m.missing--
				if !r.Valid {
					m.Invalid++
				}
			}
			m.taken[r.Cell], m.numbers[r.Cell] = now, r.Numbers
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.Shards = append(m.Shards, h.Shards)
	}
	slices.Sort(m.Shards)
	m.Shards = slices.Compact(m.Shards)
	return m, nil
}

// planOf reads the plan in a result file.
func planOf(path string) (*Sweep, error) {
	h, _, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var d Definition
	if json.Unmarshal(h.Plan, &d) != nil {
		return nil, damaged(path, "its plan cannot be read: %v", table.ReadJSON(h.Plan, &d))
	}
	if d.NumericVersion != montecarlo.NumericVersion {
		return nil, fmt.Errorf("%s: has numbers of version %d; this belsim merges only version %d", path,
			d.NumericVersion, montecarlo.NumericVersion)
	}
	s, err := newSweep(d)
	if err != nil {
		err = damaged(path, "its plan cannot be read: %v", err)
	}
	return s, err
}

// Complete returns an error unless the files have every cell. It says how many are missing.
func (m *Merged) Complete() error {
	if m.missing == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s are missing", m.missing, position.Counted(m.size, "cell"))
}

// ShardList is a list of numbers of shards, in ascending order.
type ShardList []int

// String writes the list with ranges, as Slurm's --array= reads it: 3,7-9.
func (l ShardList) String() string {
	var ranges []string
	for first := 0; first < len(l); {
		last := first
		for last+1 < len(l) && l[last+1] == l[last]+1 {
			last++
		}
		text := strconv.Itoa(l[first])
		if last > first {
			text += "-" + strconv.Itoa(l[last])
		}
		ranges = append(ranges, text)
		first = last + 1
	}
	return strings.Join(ranges, ",")
}

// MissingShards lists the shards, from 1, of n that lack a cell. n = 0 stands for as many
// shards as the files say there are; the error says that there is no file, or that they differ.
func (m *Merged) MissingShards(n int) (ShardList, error) {
	switch {
	case n == 0 && m.Files == 0:
		return nil, errors.New("it has no result file of this plan")
	case n == 0 && len(m.Shards) > 1:
		return nil, fmt.Errorf("its files are of %s shards", strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Shards), " ", " and of "), "[]"))
	case n == 0:
		n = m.Shards[0]
	}
	all, lacks := m.dealt(), map[int]bool{}
	for at, t := range all {
		if m.taken[t].file == "" {
			lacks[at%n+1] = true
		}
	}
	return slices.Sorted(maps.Keys(lacks)), nil
}
