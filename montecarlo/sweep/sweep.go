// Package sweep computes many cells: codes with decoders, over a plane of error models, by
// several methods. Any number of machines can share the work, and a machine that was killed
// continues where it stopped.
//
// ReadPlan reads a plan file, which a user writes: a Sweep, which is plain data, with the codes,
// decoders and error models that compute it. A task of a sweep is one cell: a code, a decoder, r, σ
// and a method. Its ID is a hash of everything that determines its numbers. A task of many
// samples is cut into pieces. The cuts depend on the sweep only, not on the number of shards,
// so the sums of the pieces are the same integers for any number of shards.
//
// Plan.Open opens a Shard, which is a part of a sweep. Shard.Work computes its pieces and keeps the
// results in a file that is always complete. Merge merges the files of all shards, without the plan.
package sweep

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory"
)

// PieceSamples is about the largest number of samples of a piece. For independent bits they
// take a second or less on most machines. The identity of a sweep depends on this number, as
// it does on everything that cuts tasks into pieces.
const PieceSamples = 1 << 26

// Limits of a sweep, so that its tasks and pieces can be listed.
const (
	// MaxTasks is the largest number of tasks.
	MaxTasks     = 10_000_000
	maxPieces    = 50_000_000
	maxTaskParts = 1 << 16 // pieces become larger above it
)

// Definition determines the cells of a sweep and their numbers. It is plain data; result files
// contain it.
type Definition struct {
	NumericVersion int                `json:"numeric_version" doc:"version of the numbers; results of different versions are never mixed"`
	Plane          scenario.PlaneKind `json:"plane,omitempty" doc:"the error models; missing for the Gaussian mixture, whose parameters are r and σ"`
	Pairs          []Pair             `json:"pairs" doc:"the codes, each with a decoder"`
	scenario.Axes[scenario.Axis]
	Cutoff   float64            `json:"cutoff,omitempty" doc:"cutoff κ of what networks learn, in cycles over the range; missing for the default, and in other planes"`
	Training perceived.Training `json:"training,omitempty" doc:"bce: each bit was trained by itself; ce: all together; missing in other planes"`
	scenario.Sampling
	scenario.Reading
	Priors []Prior `json:"priors,omitempty" doc:"how often each label occurs, by number of levels; equally often where none is given"`
}

// X returns the values of the first parameter of the plane.
func (d *Definition) X() scenario.Axis { x, _ := d.Axes.Of(d.Plane); return x }

// Y returns the values of the second parameter of the plane.
func (d *Definition) Y() scenario.Axis { _, y := d.Axes.Of(d.Plane); return y }

// Pair is a code of some number of levels with a decoder, and the methods that exist for
// both.
type Pair struct {
	Code     string            `json:"code" doc:"name of the code or its file, as in the plan"`
	Identity string            `json:"identity" doc:"which code it is: its name, or a hash of the matrix in its file"`
	Levels   int               `json:"levels" doc:"number of levels L"`
	Bits     int               `json:"bits" doc:"number of bits M"`
	Decoder  string            `json:"decoder" doc:"name of the decoder"`
	Outputs  scenario.Outputs  `json:"outputs" doc:"what the decoder reads: bits or logits"`
	Methods  []scenario.Method `json:"methods" doc:"the methods that exist for both: bound, exact or mc"`
}

// String is the pair as a pair of a figure is named, CODE:DECODER:LEVELS.
func (p Pair) String() string { return fmt.Sprintf("%s:%s:%d", p.Code, p.Decoder, p.Levels) }

// Prior is how often each of a number of labels occurs.
type Prior struct {
	Levels  int       `json:"levels" doc:"number of levels L"`
	Weights []float64 `json:"weights" doc:"the weight of each level; they add up to 1"`
}

// ID names a task.
type ID [16]byte

// String is the ID in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Task is one cell.
type Task struct {
	Pair   int     // index into Definition.Pairs
	X, Y   float64 // parameters of the plane, such as r and σ
	Method scenario.Method
}

// Piece is the unit of computation: a task, or part Part of it, from 0.
type Piece struct{ Task, Part int }

// compare orders pieces as the plan has them.
func (p Piece) compare(q Piece) int {
	return cmp.Or(cmp.Compare(p.Task, q.Task), cmp.Compare(p.Part, q.Part))
}

// Sweep is a definition that has been checked, with its tasks in their order.
type Sweep struct {
	Definition
	ID string // a hash of the tasks in their order, and of how they are cut

	first  []int // by pair: its first task
	ids    []ID  // by task
	sorted []int // tasks by their ID
	number []int // by task: the number of its first piece among those of all tasks by their ID
	pieces int
	cuts   []cut // by pair
	priors map[int][]float64
}

// cut says how the samples of a task are cut. A unit is one block of one row. Units follow
// each other in the order of rows, and a piece has a fixed number of them.
type cut struct {
	rows   []int  // the rows that are sampled
	blocks uint64 // of a row
	units  uint64 // units of a piece
	parts  int
}

// New checks a definition and lists its tasks.
func New(d Definition) (*Sweep, error) {
	s := &Sweep{Definition: d, priors: map[int][]float64{}}
	for _, prior := range d.Priors {
		s.priors[prior.Levels] = prior.Weights
	}
	cells := len(d.X().Values) * len(d.Y().Values)
	total := 0
	for i, pair := range d.Pairs {
		if s.priors[pair.Levels] == nil {
			s.priors[pair.Levels] = theory.Uniform(pair.Levels)
		}
		s.first = append(s.first, total)
		total += cells * len(pair.Methods)
		if total > MaxTasks {
			return nil, fmt.Errorf("more than %d cells; want several plans", MaxTasks)
		}
		s.cuts = append(s.cuts, s.cut(i))
	}
	if total == 0 {
		return nil, errors.New("a plan without a cell")
	}
	return s, s.list(total)
}

// list makes the IDs of the tasks and puts them into order.
func (s *Sweep) list(total int) error {
	s.ids = make([]ID, 0, total)
	for i, pair := range s.Pairs {
		digests := make([][sha256.Size]byte, len(pair.Methods))
		for k, m := range pair.Methods {
			digests[k] = sha256.Sum256([]byte(s.identity(i, m)))
		}
		for _, sigma := range s.Y().Values {
			for _, r := range s.X().Values {
				for k := range digests {
					text := binary.BigEndian.AppendUint64(digests[k][:], math.Float64bits(r))
					sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, math.Float64bits(sigma)))
					s.ids = append(s.ids, ID(sum[:16]))
				}
			}
		}
	}
	s.sorted = make([]int, total)
	for i := range s.sorted {
		s.sorted[i] = i
	}
	slices.SortFunc(s.sorted, func(a, b int) int { return bytes.Compare(s.ids[a][:], s.ids[b][:]) })
	s.number, s.pieces = make([]int, total), 0
	for at, t := range s.sorted {
		if at > 0 && s.ids[t] == s.ids[s.sorted[at-1]] {
			return fmt.Errorf("the cells %s and %s are the same", s.describe(s.sorted[at-1]), s.describe(t))
		}
		s.number[t] = s.pieces
		if s.pieces += s.Parts(t); s.pieces > maxPieces {
			return fmt.Errorf("more than %d pieces of %d samples; want several plans", maxPieces, PieceSamples)
		}
	}
	plan := sha256.New()
	fmt.Fprintf(plan, "belsim plan\npieces %d %d\n", PieceSamples, maxTaskParts)
	for i := range s.ids {
		plan.Write(s.ids[i][:])
	}
	s.ID = hex.EncodeToString(plan.Sum(nil))
	return nil
}

// identity is a text of everything that determines the numbers of the cells of a pair by
// one method, except r and σ. Two texts are equal only where the numbers are equal: every
// line after the first two has its own key, and no value has a line break.
func (s *Sweep) identity(i int, method scenario.Method) string {
	p := s.Pairs[i]
	var b bytes.Buffer
	line := func(key string, value any) { fmt.Fprintf(&b, "%s %v\n", key, value) }
	hexadecimal := func(v float64) string { return fmt.Sprintf("%016x", math.Float64bits(v)) }
	line("belsim task, numeric version", s.NumericVersion)
	line("method", method)
	if s.Plane != "" {
		line("plane", s.Plane)
		line("cutoff", hexadecimal(s.Cutoff))
		line("training", s.Training)
	}
	line("code", fmt.Sprintf("%q", p.Identity))
	line("levels", p.Levels)
	line("decoder", p.Decoder)
	line("outputs", p.Outputs)
	line("temperature", hexadecimal(s.Temperature))
	line("labels", s.LabelKind)
	digest := sha256.New()
	for _, w := range s.priors[p.Levels] {
		digest.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(w)))
	}
	line("prior", hex.EncodeToString(digest.Sum(nil)))
	if method == scenario.Sample {
		line("seed", s.Seed)
		line("within", s.Within)
		if s.RelErr > 0 {
			line("relative error", hexadecimal(s.RelErr))
			line("most samples", s.MaxSamples)
		} else {
			line("samples", s.Samples)
		}
	}
	return b.String()
}

// cut returns the cut of the tasks of a pair. Tasks with a target relative error are not
// cut, because their next samples depend on the sums of all samples before.
func (s *Sweep) cut(i int) cut {
	c := cut{parts: 1}
	for row, w := range s.priors[s.Pairs[i].Levels] {
		if w > 0 {
			c.rows = append(c.rows, row)
		}
	}
	if s.RelErr > 0 {
		return c
	}
	c.blocks = (s.Samples + montecarlo.BlockSize - 1) / montecarlo.BlockSize
	units := c.blocks * uint64(len(c.rows))
	c.units = max(1, PieceSamples/max(1, min(s.Samples, montecarlo.BlockSize)), (units+maxTaskParts-1)/maxTaskParts)
	c.parts = max(1, int((units+c.units-1)/c.units))
	return c
}

// Tasks is the number of tasks.
func (s *Sweep) Tasks() int { return len(s.ids) }

// Pieces is the number of pieces of all tasks.
func (s *Sweep) Pieces() int { return s.pieces }

// Task returns task t, from 0: by pair, σ, r and method, in the order of the plan.
func (s *Sweep) Task(t int) Task {
	i := sort.SearchInts(s.first, t+1) - 1
	methods := s.Pairs[i].Methods
	at := t - s.first[i]
	cell := at / len(methods)
	x, y := s.X().Values, s.Y().Values
	return Task{i, x[cell%len(x)], y[cell/len(x)], methods[at%len(methods)]}
}

// describe returns a task in words.
func (s *Sweep) describe(t int) string {
	k := s.Task(t)
	p := s.Pairs[k.Pair]
	x, y := s.Plane.Symbols()
	return fmt.Sprintf("%s (%s, %d levels, %s = %v, %s = %v, %s)", p.Code, p.Decoder, p.Levels, x, k.X, y, k.Y, k.Method)
}

// Parts is the number of pieces that task t is cut into.
func (s *Sweep) Parts(t int) int {
	k := s.Task(t)
	if k.Method != scenario.Sample {
		return 1
	}
	return s.cuts[k.Pair].parts
}

// Spans lists the samples of a piece of a task that samples. It returns nil where the task
// has a target relative error.
func (s *Sweep) Spans(p Piece) []montecarlo.Span {
	k := s.Task(p.Task)
	c := s.cuts[k.Pair]
	if k.Method != scenario.Sample || s.RelErr > 0 {
		return nil
	}
	var spans []montecarlo.Span
	end := min(uint64(p.Part+1)*c.units, c.blocks*uint64(len(c.rows)))
	for at := uint64(p.Part) * c.units; at < end; {
		block := at % c.blocks
		n := min(c.blocks-block, end-at)
		samples := min((block+n)*montecarlo.BlockSize, s.Samples) - block*montecarlo.BlockSize
		spans = append(spans, montecarlo.Span{Row: c.rows[at/c.blocks], Block: uint32(block), Samples: samples})
		at += n
	}
	return spans
}

// Part returns the pieces of shard i of n, i from 1, in the order of the plan. A shard has
// every n-th piece in the order of task IDs. So all shards have about the same number of
// pieces, with cells from everywhere in the plan.
func (s *Sweep) Part(i, n int) []Piece {
	var out []Piece
	at := 0
	for g := i - 1; g < s.pieces; g += n {
		for at+1 < len(s.sorted) && s.number[s.sorted[at+1]] <= g {
			at++
		}
		task := s.sorted[at]
		out = append(out, Piece{task, g - s.number[task]})
	}
	slices.SortFunc(out, Piece.compare)
	return out
}

// find returns the task with an ID.
func (s *Sweep) find(id []byte) (task int, ok bool) {
	at, ok := sort.Find(len(s.sorted), func(i int) int { return bytes.Compare(id, s.ids[s.sorted[i]][:]) })
	if !ok {
		return 0, false
	}
	return s.sorted[at], true
}
