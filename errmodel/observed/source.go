// Package observed reads the outputs of a trained network: for every test sample the target
// and the outputs of the classifiers, from files that may be larger than memory. It counts the
// classifiers' errors, decodes the outputs, and measures how the errors depend on each other.
package observed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Kind says how the outputs of classifiers are written.
type Kind string

// Kinds of outputs. The decision of a classifier is one where its bit is 1, its sign is +1,
// its probability is above ½, or its logit is positive.
const (
	Bits          Kind = "bits"          // 0 and 1
	Signs         Kind = "signs"         // −1 and 1
	Probabilities Kind = "probabilities" // of a one, from 0 to 1, up to rounding
	Logits        Kind = "logits"        // any finite numbers
)

// SplitKind splits KIND:FILE, such as logits:FILE. The kind is "" where the text does not say it.
func SplitKind(text string) (k Kind, file string) {
	for _, kind := range []Kind{Logits, Probabilities, Bits} {
		if rest, found := strings.CutPrefix(text, string(kind)+":"); found {
			return kind, rest
		}
	}
	return "", text
}

// rounding is how far probabilities lie outside of 0 to 1 where they were added up in float16.
const rounding = 0x1p-10

// isProbability reports whether an output may be a probability.
func isProbability(v float64) bool { return v >= -rounding && v <= 1+rounding }

// certain is the logit used for probability 1; its negative is used for probability 0.
// It is the logit of the largest probability that the error model distinguishes from 1.
var certain = math.Log((1 - decode.SmallestError) / decode.SmallestError)

// logit returns an output as a logit, or ±1 where it is a bit. For an output that is not of
// kind k, fault describes the output.
func (k Kind) logit(v float64) (z float64, fault string) {
	switch k {
	case Bits:
		if v != 0 && v != 1 {
			return 0, "neither 0 nor 1"
		}
		return 2*v - 1, ""
	case Signs:
		if v != -1 && v != 1 {
			return 0, "neither −1 nor 1"
		}
		return v, ""
	case Probabilities:
		switch {
		case !isProbability(v):
			return 0, "no probability"
		case v <= 0:
			return -certain, ""
		case v >= 1:
			return certain, ""
		}
		return min(max(math.Log(v)-math.Log1p(-v), -certain), certain), ""
	}
	if math.Abs(v) > mostLogit {
		return 0, fmt.Sprintf("larger than %.1g", mostLogit)
	}
	return v, ""
}

// Hard reports whether outputs are decisions alone.
func (k Kind) Hard() bool { return k == Bits || k == Signs }

// Labels says how targets are written.
type Labels struct {
	Levels int
	// Real says that targets are real labels from Lo to Hi. They are quantized to the
	// nearest level by q(y) = (y−Lo)·(L−1)/(Hi−Lo) + 1. Otherwise targets are levels 1..L.
	Real   bool
	Lo, Hi float64
	// Places are those of uneven levels, and nil for even ones.
	Places []float64
	// Clips says that labels beyond Lo and Hi are of the end levels; else they are refused.
	Clips bool
	// Circle is that of the levels, where Lo and Hi are one point: labels beyond them go round it. It is
	// nil for levels on a line.
	Circle *code.Circle
}

// Clipped is a prediction in levels, within the range of the levels.
func (l Labels) Clipped(prediction float64) float64 {
	if l.Circle != nil {
		return l.inLevels(prediction)
	}
	return min(max(l.inLevels(prediction), 1), float64(l.Levels))
}

// inLevels is a prediction in levels.
func (l Labels) inLevels(prediction float64) float64 {
	if l.Real {
		prediction = (prediction-l.Lo)/l.Width() + 1
	}
	if l.Circle != nil && math.Abs(prediction) <= mostLogit {
		return l.Circle.Wrap(prediction)
	}
	return prediction
}

// Label is the label of a place between levels that are even: what inLevels undoes.
func (l Labels) Label(place float64) float64 {
	if !l.Real {
		return place
	}
	return l.Lo + (place-1)*l.Width()
}

// Width is the width of a level in label units.
func (l Labels) Width() float64 {
	switch {
	case !l.Real:
		return 1
	case l.Circle != nil:
		return (l.Hi - l.Lo) / float64(l.Levels)
	}
	return (l.Hi - l.Lo) / float64(l.Levels-1)
}

// Level returns the level of a target, and the target in levels.
func (l Labels) Level(y float64) (level int, exact float64, err error) {
	if !l.Real {
		switch n := math.Round(y); {
		case n != y || math.Abs(y) >= 1<<53: // no int for position.At
			return 0, 0, fmt.Errorf("target %v is no level: want %s to %s, or a range of real labels", y, position.At(1),
				position.At(l.Levels))
		case n == 0:
			return 0, 0, fmt.Errorf("target %s: levels are %s to %s; if yours count from 0, give %s "+
				"(or is this the header of a column?)", position.At(0), position.At(1), position.At(l.Levels),
				position.Flag("range", fmt.Sprintf("0:%d", l.Levels-1)))
		case n < 1 || n > float64(l.Levels):
			return 0, 0, fmt.Errorf("target %s is no level: want %s to %s, or another range of labels", position.At(int(y)),
				position.At(1), position.At(l.Levels))
		}
		return int(y), y, nil
	}
	if l.Circle != nil {
		exact = l.inLevels(y)
		return l.LevelOf(exact), exact, nil
	}
	// Files hold rounded numbers: a target may lie outside the range by the rounding of a
	// float32.
	slack := 1e-6 * max(l.Hi-l.Lo, math.Abs(l.Lo), math.Abs(l.Hi))
	if !l.Clips && !(y >= l.Lo-slack && y <= l.Hi+slack) {
		return 0, 0, fmt.Errorf("target %v is outside the range %v to %v", y, l.Lo, l.Hi)
	}
	exact = (y-l.Lo)*float64(l.Levels-1)/(l.Hi-l.Lo) + 1
	return l.LevelOf(exact), exact, nil
}

// LevelOf is the level nearest to a label in levels.
func (l Labels) LevelOf(exact float64) int {
	if l.Places != nil {
		row, _ := code.Nearest(l.Places, exact)
		return row + 1
	}
	if l.Circle != nil {
		return int(l.Circle.Wrap(math.Round(exact)))
	}
	return int(min(max(math.Round(exact), 1), float64(l.Levels)))
}

// Nearest is the level nearest to a prediction.
func (l Labels) Nearest(prediction float64) int { return l.LevelOf(l.Clipped(prediction)) }

// Source is the targets, N × 1, and the outputs, N × M, of test samples. Without Targets it has
// outputs alone.
type Source struct {
	Targets, Outputs *arrayfile.Rows
	// Direct has the predictions of another network for the same samples, N × 1, in the units of
	// the targets: direct regression. It may be nil.
	Direct *arrayfile.Rows
	// Predicted is the last prediction that Outputs were made of, where they were: of direct
	// regression that is the network itself.
	Predicted *float64
	Labels    Labels
	Kind      Kind
	// Softmax says that outputs may be a distribution over the levels, which adds up to 1.
	Softmax bool
	// Together says that the outputs are known to be trained for the decoder, and no logits of single
	// bits.
	Together bool
	// Keep is how many samples Scan keeps in memory at most.
	Keep int

	beside      int         // how many times as many numbers as outputs are made of a batch, if more
	largest     float64     // |logit| that was read
	direct, own predictions // of Direct, and of Predicted
	watch       *watch      // of Outputs
}

// Squares of logits of these sizes are numbers of full precision, and so are their sums over all
// samples. Of smaller ones, one at least must be of this size.
const leastLogit, mostLogit = 0x1p-480, 0x1p480

// file is one of the files of a Source, which are read row by row beside each other.
type file struct {
	rows *arrayfile.Rows
	what string                   // a format of a number of its rows
	next func(b *batch) []float64 // where a batch has its next row
}

// files are those that there are.
func (s *Source) files() []file {
	_, m := s.Outputs.Dims()
	all := []file{
		{s.Targets, "%v targets", func(b *batch) []float64 { return b.exact[b.n : b.n+1] }},
		{s.Outputs, "the outputs of %v samples", func(b *batch) []float64 { return b.z[b.n*m : (b.n+1)*m] }},
		{s.Direct, "%v predictions", func(b *batch) []float64 { return b.direct[b.n : b.n+1] }},
	}
	return slices.DeleteFunc(all, func(f file) bool { return f.rows == nil })
}

// unequal says that a file ends before another one, which has so many rows, or more.
func unequal(short file, rows int, long file, more any) error {
	return fmt.Errorf("%s has %s, but %s has %s", short.rows.Name(), fmt.Sprintf(short.what, rows), long.rows.Name(),
		fmt.Sprintf(long.what, more))
}

// Check compares the sizes of the files, where they are known before the files are read.
func (s *Source) Check() error {
	if _, columns := s.Targets.Dims(); columns != 1 {
		if _, bits := s.Outputs.Dims(); columns == bits {
			return fmt.Errorf("%s: %d columns, as many as the outputs have: are these the code words? "+
				"want one target for each sample, its level or its real label", s.Targets.Name(), columns)
		}
		return CheckColumn(s.Targets, "target")
	}
	if s.Direct != nil {
		if err := CheckColumn(s.Direct, "prediction"); err != nil {
			return err
		}
	}
	files := s.files()
	n, _ := s.Targets.Dims()
	if rows, columns := s.Outputs.Dims(); rows >= 0 && rows < n && columns == n {
		return fmt.Errorf("%s has a column for each of %d targets: want a row for each; transpose it", s.Outputs.Name(), n)
	}
	for _, f := range files[1:] {
		switch m, _ := f.rows.Dims(); {
		case n < 0 || m < 0 || n == m:
		case n < m:
			return unequal(files[0], n, f, m)
		default:
			return unequal(f, m, files[0], n)
		}
	}
	return nil
}

// EachRow calls f for the rows, as long as it returns true, and rewinds them.
func EachRow(ctx context.Context, rows *arrayfile.Rows, f func(row []float64) bool) error {
	_, m := rows.Dims()
	row := make([]float64, m)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := rows.Next(row); {
		case err == io.EOF:
			return rows.Rewind()
		case err != nil:
			return err
		case !f(row):
			return rows.Rewind()
		}
	}
}

// FindKind returns the kind of outputs of which a kind was said, or "": bits may be ±1. Else it
// reads them until it knows: bits where all are 0 or 1, signs where all are ±1, probabilities where
// all are from 0 to 1, else logits. Python's belsim.decode has the same rule. The first output that
// is not a probability shows that outputs are logits; for the other kinds it reads the whole file.
// Then it rewinds the rows. It refuses 1 and 255 alone: ±1 in the wrong type.
func FindKind(ctx context.Context, said Kind, outputs *arrayfile.Rows) (Kind, error) {
	if said != "" && said != Bits {
		return said, nil
	}
	bits, signs, probabilities, bytes, least, most := true, true, true, true, math.Inf(1), math.Inf(-1)
	err := EachRow(ctx, outputs, func(row []float64) bool {
		for _, v := range row {
			bits = bits && (v == 0 || v == 1)
			signs = signs && (v == -1 || v == 1)
			probabilities = probabilities && isProbability(v)
			bytes = bytes && (v == 1 || v == math.MaxUint8)
			least, most = min(least, v), max(most, v)
		}
		return bits || signs || probabilities || bytes
	})
	switch {
	case bytes && least < most && err == nil:
		return "", fmt.Errorf("%s: all outputs are 1 or 255, which −1 is where int8 is read as uint8: want −1 and 1, or logits",
			outputs.Name())
	case bits:
		return Bits, err
	case signs:
		return Signs, err
	case said == Bits: // reading the outputs will say which one is not a bit
		return Bits, err
	case probabilities && least >= -rounding*most: // and no logits that are small
		return Probabilities, err
	}
	return Logits, err
}

// batch is some samples, in the order of the files.
type batch struct {
	n      int
	level  []int     // from 1
	exact  []float64 // targets in levels
	direct []float64 // predictions in levels; where there are any
	own    []float64 // the network's own ones, where it predicts labels
	z      []float64 // n × M logits
	made   []float64 // what is made of the samples
	last   bool      // no batch follows
}

// batchBytes is about the memory of a batch, or of what is made of it.
const batchBytes = 4 << 20

// each calls f for all samples, batch by batch, while prepare, if there is one, makes something of the next
// batch, and the one behind that is read; the files are rewound first. done, which may be nil, is told how
// many samples f has got since its last call. Errors name the file and the place.
func (s *Source) each(ctx context.Context, done func(uint64), prepare, f func(*batch) error) error {
	files := s.files()
	for _, x := range files {
		if err := x.rows.Rewind(); err != nil {
			return err
		}
	}
	s.largest, s.direct, s.own = 0, predictions{}, predictions{}
	s.watch = newWatch(s.Outputs.Taken())
	s.Outputs.Watch(s.watch.add)
	_, m := s.Outputs.Dims()
	size := min(4096, max(1, batchBytes/8/m/max(1, s.beside)))
	row := 0
	stages := []func(*batch) error{func(b *batch) (err error) {
		b.last, err = s.read(files, b, row)
		row += b.n
		return err
	}, prepare, func(b *batch) error {
		err := f(b)
		if err == nil && done != nil {
			done(uint64(b.n))
		}
		return err
	}}
	stages = slices.DeleteFunc(stages, func(stage func(*batch) error) bool { return stage == nil })
	free := make(chan *batch, len(stages)+1)
	for range cap(free) {
		free <- &batch{level: make([]int, size), exact: make([]float64, size), direct: make([]float64, size),
			own: make([]float64, size), z: make([]float64, size*m)}
	}
	g, ctx := errgroup.WithContext(ctx)
	from := free
	for i, stage := range stages {
		in, out := from, free
		if i < len(stages)-1 {
			out = make(chan *batch, cap(free))
			from = out
		}
		g.Go(func() error {
			if i < len(stages)-1 {
				defer close(out)
			}
			for {
				var b *batch
				select {
				case b = <-in:
				case <-ctx.Done():
					return ctx.Err()
				}
				if b == nil { // the stage before has ended
					return nil
				}
				if err := cmp.Or(stage(b), ctx.Err()); err != nil {
					return err
				}
				out <- b // there is room for all
				if b.last {
					return nil
				}
			}
		})
	}
	return g.Wait()
}

// read fills a batch; row is the number of samples before it.
func (s *Source) read(files []file, b *batch, row int) (end bool, err error) {
	for b.n = 0; b.n < len(b.level); b.n++ {
		var short, long *file
		for i := range files {
			f := &files[i]
			switch err := f.rows.Next(f.next(b)); err {
			case nil:
				long = f
			case io.EOF:
				short = f
			default:
				return false, err
			}
		}
		switch at := row + b.n; {
		case short != nil && long != nil:
			return false, s.tooMany(*short, *long, at, b)
		case short != nil:
			return true, s.ended()
		}
		if err := s.take(b, row+b.n+1); err != nil {
			return false, err
		}
	}
	return false, nil
}

// tooMany is the error of a file that goes on behind the end of another one, at row so many.
func (s *Source) tooMany(short, long file, at int, b *batch) error {
	if long.rows.Next(long.next(b)) == io.EOF {
		return fmt.Errorf("%w%s", unequal(short, at, long, at+1), oneRow(short, long))
	}
	return unequal(short, at, long, "more")
}

// take makes levels and logits of the row of every file that a batch has got; row is its number.
func (s *Source) take(b *batch, row int) (err error) {
	if s.Targets != nil {
		if b.level[b.n], b.exact[b.n], err = s.Labels.Level(b.exact[b.n]); err != nil {
			return fmt.Errorf("%s: row %s: %w", s.Targets.Name(), position.At(row), err)
		}
		if s.Predicted != nil {
			if b.own[b.n], err = s.own.add(s.Labels, *s.Predicted, b.exact[b.n]); err != nil {
				return fmt.Errorf("%s: row %s: %w", s.Outputs.Name(), position.At(row), err)
			}
		}
	}
	if s.Direct != nil {
		if b.direct[b.n], err = s.direct.add(s.Labels, b.direct[b.n], b.exact[b.n]); err != nil {
			return fmt.Errorf("%s: row %s: %w", s.Direct.Name(), position.At(row), err)
		}
	}
	_, m := s.Outputs.Dims()
	z := b.z[b.n*m : (b.n+1)*m]
	if s.Kind == Logits {
		largest := 0.0
		for _, v := range z {
			if v = math.Abs(v); !(v <= largest) {
				if largest = v; !(v <= mostLogit) {
					break
				}
			}
		}
		if largest <= mostLogit {
			s.largest = max(s.largest, largest)
			return nil
		}
	}
	for k, v := range z {
		logit, what := s.Kind.logit(v)
		if what != "" {
			return fmt.Errorf("%s: row %s, column %s: %v is %s; these outputs were to be %s", s.Outputs.Name(),
				position.At(row), position.At(k+1), v, what, s.Kind)
		}
		z[k] = logit
		s.largest = max(s.largest, math.Abs(logit))
	}
	return nil
}

// ended refuses what only shows when all samples were read: logits that are too small, and what
// cannot be predictions of the targets.
func (s *Source) ended() error {
	if s.largest > 0 && s.largest < leastLogit {
		return fmt.Errorf("%s: logits are too small: the largest is %.1g; want one of at least %.1g", s.Outputs.Name(),
			s.largest, leastLogit)
	}
	if s.Predicted != nil {
		if err := s.own.check(s.Labels, s.Outputs.Name()); err != nil {
			return err
		}
	} else if err := s.watch.check(s.Kind, s.Softmax, s.Outputs.Name()); err != nil {
		return err
	}
	if s.Direct != nil {
		return s.direct.check(s.Labels, s.Direct.Name())
	}
	return nil
}
