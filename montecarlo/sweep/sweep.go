// Package sweep computes many cells: codes with decoders, over the plane of r and σ, by several
// methods. Any number of machines can share the work, and a machine that was killed
// continues where it stopped.
//
// ReadPlan reads a plan file, which a user writes: a Sweep, which is plain data, with the codes and
// decoders that compute it. A cell of a sweep is a code, a decoder, a point of the plane and a method.
// It is computed as a whole, so its numbers are the same for any number of shards.
//
// Plan.Open opens a Shard, which is a part of a sweep. Shard.Work computes its cells and keeps the
// results in a file that is always complete. Merge merges the files of all shards, without the
// plan.
package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"belsim/errmodel/scenario"
	"belsim/montecarlo"
	"belsim/montecarlo/plane"
	"belsim/theory"
	"belsim/theory/code"
)

// maxCells is the largest number of cells of a sweep, so that they can be listed.
const maxCells = 10_000_000

// Definition determines the cells of a sweep and their numbers. It is plain data; result files
// contain it.
type Definition struct {
	// version of the numbers; results of different versions are never mixed
	NumericVersion int `json:"numeric_version"`
	// the codes, each with a decoder
	Pairs []Pair     `json:"pairs"`
	R     plane.Axis `json:"r"`
	Sigma plane.Axis `json:"sigma"`
	montecarlo.Sampling
	Temperature float64 `json:"temperature"`
	scenario.Measure
	// a hash of the costs, where they are a matrix in a file
	Matrix string `json:"cost_matrix,omitempty"`
	// how often each label occurs, by number of levels; equally often where none is given
	Priors []Prior `json:"priors,omitempty"`
}

// Pair is a code of some number of levels with a decoder, and the methods that exist for
// both.
type Pair struct {
	scenario.Design
	// which code it is: its name, or a hash of the matrix in its file
	Identity string `json:"identity"`
	// the methods that exist for both: bound, exact or mc
	Methods []plane.Method `json:"methods"`
	// which bound it is, where bound is one of the methods
	Bound string `json:"bound_name,omitempty"`
}

// Prior is how often each of a number of labels occurs.
type Prior struct {
	Levels int `json:"levels"`
	// the weight of each level; they add up to 1
	Weights []float64 `json:"weights"`
}

// Task is what one cell computes.
type Task struct {
	Pair int // index into Definition.Pairs
	plane.Point
	Method plane.Method
}

// Sweep is a definition that has been checked. Its cells have numbers from 0: by pair, σ, r and
// method, in the order of the plan.
type Sweep struct {
	Definition
	ID string // a hash of everything that determines the numbers of the cells

	first  []int // by pair: its first cell
	size   int   // number of cells
	priors map[int][]float64
	places func() []int // order, computed once
}

// newSweep checks a definition.
func newSweep(d Definition) (*Sweep, error) {
	s := &Sweep{Definition: d, priors: map[int][]float64{}}
	for _, prior := range d.Priors {
		s.priors[prior.Levels] = prior.Weights
	}
	points := len(d.R.Values) * len(d.Sigma.Values)
	for _, pair := range d.Pairs {
		if pair.Levels < code.MinLevels || pair.Levels > code.MaxLevels {
			return nil, fmt.Errorf("%d levels; want %d to %d", pair.Levels, code.MinLevels, code.MaxLevels)
		}
		if s.priors[pair.Levels] == nil {
			s.priors[pair.Levels] = theory.Uniform(pair.Levels)
		}
		s.first = append(s.first, s.size)
		s.size += points * len(pair.Methods)
		if s.size > maxCells {
			return nil, fmt.Errorf("more than %d cells; want several plans", maxCells)
		}
	}
	if s.size == 0 {
		return nil, errors.New("a plan without a cell")
	}
	s.places = sync.OnceValue(s.order)
	var err error
	s.ID, err = d.identity()
	return s, err
}

// identity is a hash of the definition without the paths of its codes, of which it has the
// matrices.
func (d Definition) identity() (string, error) {
	d.Pairs = slices.Clone(d.Pairs)
	for i := range d.Pairs {
		d.Pairs[i].Code, d.Pairs[i].Bound = "", "" // the bound follows from the rest
	}
	if d.Matrix != "" {
		d.Cost = ""
	}
	text, err := json.Marshal(d)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// Size is the number of cells.
func (s *Sweep) Size() int { return s.size }

// task returns what a cell computes.
func (s *Sweep) task(cell int) Task {
	i := sort.SearchInts(s.first, cell+1) - 1
	methods := s.Pairs[i].Methods
	at := cell - s.first[i]
	point := at / len(methods)
	r := s.R.Values
	return Task{i, plane.Point{R: r[point%len(r)], Sigma: s.Sigma.Values[point/len(r)]}, methods[at%len(methods)]}
}

// describe returns a cell in words.
func (s *Sweep) describe(cell int) string {
	k := s.task(cell)
	p := s.Pairs[k.Pair]
	return fmt.Sprintf("%s (%s, %d levels, r = %v, σ = %v, %s)", p.Code, p.Decoder, p.Levels, k.R, k.Sigma, k.Method)
}

// dealt returns all cells in the order in which they are dealt to shards: a mixed one, so that all
// shards have about the same work, from everywhere in the plan.
func (s *Sweep) dealt() []int {
	cells := make([]int, s.size)
	for t := range cells {
		cells[t] = t
	}
	mixed := func(t int) uint64 {
		x := uint64(t) * 0x9e3779b97f4a7c15
		return (x ^ x>>32) * 0xd6e8feb86659fd93
	}
	slices.SortFunc(cells, func(a, b int) int { return cmp.Compare(mixed(a), mixed(b)) })
	return cells
}

// order is the place of each cell in dealt.
func (s *Sweep) order() []int {
	places := make([]int, s.size)
	for at, t := range s.dealt() {
		places[t] = at
	}
	return places
}

// part returns the cells of shard i of n, i from 1, in their order.
func (s *Sweep) part(i, n int) []int {
	var out []int
	all := s.dealt()
	for at := i - 1; at < len(all); at += n {
		out = append(out, all[at])
	}
	slices.Sort(out)
	return out
}

// ParseShard reads i/N, part i of N, from 1. "" is the whole sweep.
func ParseShard(text string) (i, n int, err error) {
	if text == "" {
		return 1, 1, nil
	}
	_, err = fmt.Sscanf(text, "%d/%d", &i, &n)
	if err != nil || text != fmt.Sprintf("%d/%d", i, n) || i < 1 || i > n {
		return 0, 0, fmt.Errorf("shard %s: want i/N, part i of N, from 1/N to N/N", text)
	}
	return i, n, nil
}
