package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"belsim/montecarlo"
)

// Total is a sum over the labels of a cell: a 128-bit integer.
type Total struct{ Hi, Lo uint64 }

// add adds n.
func (t *Total) add(n uint64) {
	var carry uint64
	t.Lo, carry = bits.Add64(t.Lo, n, 0)
	t.Hi += carry
}

// String writes it in decimal digits.
func (t Total) String() string {
	n := new(big.Int).SetUint64(t.Hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(t.Lo)).String()
}

// MarshalJSON implements json.Marshaler.
func (t Total) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }

// cellValues are the numbers of one cell. Those that do not exist are NaN.
type cellValues struct {
	valid   bool // false where r and σ give a probability above 1
	reached bool // a target relative error was reached
	// mean is the mean |error| over the prior, in levels: the bound, the exact value, or the
	// sampled mean. Only sampled cells have the fields that follow.
	mean, stdErr, rms, within float64
	worstLevel                int
	worstMean                 float64
	samples, abs, square      Total // sums over the samples of all labels
	withinSamples             Total
	fraction                  uint8 // abs and square are in units of 2^−fraction
}

// Merged has the results of a sweep, merged from the files of its shards.
type Merged struct {
	*Sweep
	Files  int // number of result files
	Shards int // the number of shards N of the files; 0 where the files differ or there is none

	values  []cellValues // by task
	have    []bool       // by number of piece
	prints  [][16]byte   // by number of piece: a hash of its line
	from    []int32      // the file a piece is from
	names   []string
	partial map[int][]montecarlo.Sums // by task: sums of tasks that lack pieces
	lacks   []int                     // by task: number of missing pieces
}

// Merge reads the result files in a folder. Where s is nil, the plan comes from the first
// file, and there must be one. Merge refuses files of another plan or version, and files
// that have changed since they were written. A piece that several files have is counted
// once. Where files have different numbers for one piece, the error says so.
func Merge(ctx context.Context, dir string, s *Sweep) (*Merged, error) {
	names, err := resultNames(dir)
	if err != nil {
		return nil, err
	}
	if s == nil {
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: has no result file of a sweep, sweep-….jsonl", dir)
		}
		if s, err = planOf(filepath.Join(dir, names[0])); err != nil {
			return nil, err
		}
	}
	m := &Merged{
		Sweep: s, values: make([]cellValues, s.Tasks()), names: names,
		have: make([]bool, s.Pieces()), prints: make([][16]byte, s.Pieces()), from: make([]int32, s.Pieces()),
		partial: map[int][]montecarlo.Sums{}, lacks: make([]int, s.Tasks()),
	}
	for t := range m.lacks {
		m.lacks[t] = s.Parts(t)
	}
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := s.scan(filepath.Join(dir, name), func(p Piece, text []byte) error { return m.add(p, text, i) })
		if err != nil {
			return nil, err
		}
		m.Files++
		if m.Files == 1 {
			m.Shards = h.Shards
		} else if m.Shards != h.Shards {
			m.Shards = 0
		}
	}
	return m, nil
}

// resultNames returns the result files of a folder, of all plans, in the order of names.
func resultNames(dir string) ([]string, error) {
	none := &Sweep{ID: "            "}
	_, names, _, err := none.listing(dir)
	slices.Sort(names)
	return names, err
}

// planOf reads the plan in a result file.
func planOf(path string) (*Sweep, error) {
	r, err := openReader(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.header.NumericVersion != montecarlo.NumericVersion {
		return nil, fmt.Errorf("%s: has numbers of version %d; this belsim merges only version %d", path, r.header.NumericVersion, montecarlo.NumericVersion)
	}
	var d Definition
	decoder := json.NewDecoder(bytes.NewReader(r.header.Plan))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, damaged(path, fmt.Sprintf("its plan cannot be read: %v", err))
	}
	s, err := New(d)
	if err != nil {
		return nil, damaged(path, fmt.Sprintf("its plan cannot be read: %v", err))
	}
	if s.ID != r.header.PlanID {
		return nil, damaged(path, fmt.Sprintf("its plan is not %.12s, which it says it is", r.header.PlanID))
	}
	return s, nil
}

// add takes a line of file i.
func (m *Merged) add(p Piece, text []byte, i int) error {
	sum := sha256.Sum256(text)
	n := m.number(p)
	if m.have[n] {
		if m.prints[n] != [16]byte(sum[:16]) {
			return fmt.Errorf("%s has other numbers than in %s", m.describe(p.Task), m.names[m.from[n]])
		}
		return nil
	}
	r, err := m.decode(text)
	if err != nil {
		return err
	}
	m.have[n], m.prints[n], m.from[n] = true, [16]byte(sum[:16]), int32(i)
	m.lacks[p.Task]--
	cell := &m.values[p.Task]
	nan := math.NaN()
	if r.Sums == nil {
		*cell = cellValues{valid: !r.Invalid, mean: r.Value, stdErr: nan, rms: nan, within: nan, worstMean: nan}
		return nil
	}
	sums := m.partial[p.Task]
	if sums == nil {
		sums = r.Sums
	} else {
		for l, x := range r.Sums {
			sums[l].Add(x)
		}
	}
	if m.lacks[p.Task] > 0 {
		m.partial[p.Task] = sums
		return nil
	}
	delete(m.partial, p.Task)
	*cell = sampledValues(m.Weights(len(sums)), sums)
	cell.reached = r.Reached
	return nil
}

// sampledValues are the numbers of a cell with the sums of its labels.
func sampledValues(prior []float64, sums []montecarlo.Sums) cellValues {
	o := montecarlo.Average(prior, sums)
	v := cellValues{valid: true, mean: o.Mean, stdErr: o.StdErr, rms: o.RMS, within: o.Within, worstLevel: o.WorstLevel, worstMean: o.WorstMean}
	for _, s := range sums {
		v.samples.add(s.Samples)
		v.abs.add(s.Abs)
		v.square.add(s.Square)
		v.withinSamples.add(s.Within)
		v.fraction = max(v.fraction, s.Fraction)
	}
	return v
}

// Missing is the number of pieces that no file has.
func (m *Merged) Missing() int {
	n := 0
	for _, have := range m.have {
		if !have {
			n++
		}
	}
	return n
}

// Complete returns an error unless the files have every piece. It says how many are missing.
func (m *Merged) Complete() error {
	if missing := m.Missing(); missing > 0 {
		return fmt.Errorf("%d of %s are missing", missing, pieces(m.Pieces()))
	}
	return nil
}

// Invalid is the number of cells where r and σ give a probability above 1.
func (m *Merged) Invalid() int {
	n := 0
	for _, v := range m.values {
		if !v.valid {
			n++
		}
	}
	return n
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

// MissingShards lists the shards, from 1, of n that lack a piece. n = 0 stands for as many
// shards as the files say there are; the error says that they do not tell.
func (m *Merged) MissingShards(n int) (ShardList, error) {
	switch {
	case n == 0 && m.Files == 0:
		return nil, errors.New("no result file says how many shards there are")
	case n == 0 && m.Shards == 0:
		return nil, errors.New("its files are from different numbers of shards")
	case n == 0:
		n = m.Shards
	}
	var out ShardList
	for i := range min(n, len(m.have)) {
		for g := i; g < len(m.have); g += n {
			if !m.have[g] {
				out = append(out, i+1)
				break
			}
		}
	}
	return out, nil
}
