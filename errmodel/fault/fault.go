// Package fault finds what is wrong with the outputs of a network, or with how they are read.
//
// Each fault is a small function: of sums over all samples, or of answers that some samples get once the
// fault is mended. Half of these samples choose a mend, and the others judge it. [Find] lists what was
// found: each a [Finding] with its name, its number and its mend.
package fault

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Finding is a fault, with its mend.
type Finding struct {
	// shift, edges, stretch, line, bias, circle, reversed, inverted, permuted, code, probabilities,
	// percent, logarithms, softmax-twice, sigmoid-twice, sigmoid, same, one-sided, guessing, training, temperature, soft, clipped, dead
	// or empty
	Name string `json:"name"`
	// size of the fault: the shift or the bias in levels, the slope, the number of columns or levels, the share
	// of targets or levels, the temperature τ, or a width in levels
	Number float64 `json:"number"`
	// mean |answer − target| as read, on samples that chose no mend; null where no answers were compared
	Error float64 `json:"error"`
	// the same with the mend
	Mended float64 `json:"mended"`
	// the column that belongs at each place, from 1; only of permuted
	Order []int `json:"order,omitempty"`
	// what is wrong, as a sentence
	Text string `json:"text"`
	// what to do, as the end of a sentence
	Mend string `json:"mend"`
}

// found is a fault of which no answers were compared.
func found(name string, number float64, text, mend string) *Finding {
	return &Finding{Name: name, Number: number, Error: math.NaN(), Mended: math.NaN(), Text: text, Mend: mend}
}

// Misread reports whether the outputs or the levels are read so wrongly that no error as read says anything of
// the network: what the codec makes counts from a tenth of the error on.
func (f *Finding) Misread() bool {
	switch f.Name {
	case "shift", "edges", "stretch", "bias":
		return f.Error-f.Mended > worthwhile*f.Error
	case "line":
		return false
	case "same", "one-sided", "guessing":
		return true
	}
	return !math.IsNaN(f.Mended)
}

// Input is a network whose samples were read.
type Input struct {
	Code      *code.Code
	Labels    observed.Labels
	Kind      observed.Kind
	Training  head.Training
	Said      bool // the training was said, and not guessed
	Decodings []observed.Decoding
	Decoders  decode.Registry
	Seen      *observed.Summary // with the samples that it kept
	Dead      []int             // bits, from 1, that learnt nothing: see Dead
}

// Limits.
const (
	// Keep is how many samples are wanted, and keepNumbers how many outputs they have at most.
	keep, keepNumbers = 4000, 1 << 21
	// fewest is the number of samples from which on answers are compared.
	fewest = 100
	// worthwhile is the share of the error that the mend of a fault gains, and sure in how many standard
	// errors.
	worthwhile, sure = 0.1, 4
	// same is the share by which the mean error may grow where a mend is right by itself: what takes a bias
	// away may read skewed errors a little worse.
	same = 0.03
	// mostBits is the largest number of bits for which other codes and orders of columns are tried.
	mostBits = 512
)

// Keep is how many samples of so many outputs are wanted.
func Keep(bits int) int { return min(keep, max(4*fewest, keepNumbers/bits)) }

// trial is a way to read the samples, with the fault that it would mend.
type trial struct {
	Finding
	observed.Line            // of the targets on the answers, of a fault of the codec
	errors, answer []float64 // |answer − target| of the kept samples and their answers, in levels
}

// search is a run of Find.
type search struct {
	Input
	*observed.Samples
	ctx  context.Context
	read trial // as it is read
}

// kept are the samples in which faults are looked for: where more were kept, those that would have been kept else.
func kept(c *code.Code, seen *observed.Summary) *observed.Samples {
	out := *seen.Kept
	n := min(out.Len(), Keep(c.Bits()))
	out.Level, out.Exact, out.Own, out.Outputs = out.Level[:n], out.Exact[:n], out.Own[:n], out.Outputs[:n*out.Bits]
	return &out
}

// predicts reports whether the network predicts labels, without a code.
func (in Input) predicts() bool { return len(in.Decodings) > 0 && in.Decodings[0].Predicts() }

// findings are those of a search, in the order in which they are told.
type findings []Finding

// add adds a finding, where there is one.
func (all *findings) add(f *Finding) bool {
	if f != nil {
		*all = append(*all, *f)
	}
	return f != nil
}

// Find lists the faults, those that change answers first. The errors are the context's.
func Find(ctx context.Context, in Input) ([]Finding, error) {
	out := findings{}
	if out.add(in.same()) {
		return out, ctx.Err()
	}
	s := &search{Input: in, Samples: kept(in.Code, in.Seen), ctx: ctx}
	if s.Len() >= fewest && len(in.Decodings) > 0 && !in.Code.Circular() && (in.predicts() || !in.Code.Real()) {
		out = append(out, s.reading()...)
	}
	// Outputs that are misread, or a few samples, do not show which columns are dead and which levels are empty.
	const few = 50
	if !slices.ContainsFunc(out, func(f Finding) bool { return f.Misread() }) {
		if f := in.guessing(); f != nil {
			out = slices.Insert(out, 0, *f)
		}
		if n, _ := in.Seen.Counts.Total(); n >= few {
			out.add(s.dead())
			out.add(in.empty())
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// reading finds what is wrong with how outputs are read: with what they are, or else with how large they are and
// where their levels lie.
func (s *search) reading() (out findings) {
	var x *trial
	if s.predicts() {
		s.read = trial{answer: s.Own, errors: s.off(s.Code, s.Own)}
	} else {
		s.read = s.decoded(Finding{}, nil)
		x = s.wrongReading()
	}
	if x = cmp.Or(x, s.circle()); x != nil {
		x.Text += ": once that is mended, " + x.less()
		out.add(&x.Finding)
	}
	switch {
	case s.predicts():
		if x == nil {
			out.add(s.predicted())
		}
		return out
	case x == nil:
		var hot *Finding
		var codec *trial
		// The logits of guessing are too large for their errors.
		if hot, codec, s.read = s.sizeAndPlaces(); s.guessing() == nil || codec != nil && codec.Misread() {
			out.add(hot)
		}
		if codec != nil && out.add(&codec.Finding) && codec.Name == "shift" {
			slices.Reverse(out)
		}
		if !out.add(s.training()) && hot == nil {
			out.add(s.soft())
		}
	case x.Name == "permuted":
		if t := s.codec(); t != nil && t.Mended < (1+worthwhile)*x.Mended {
			out[0] = t.Finding
		}
	}
	out.add(s.clipped())
	return out
}

// sizeAndPlaces finds logits of a wrong size, and levels in wrong places. Logits that are large for
// errors that misplaced levels make are no fault: each is told where it stays once the other is
// mended. read is the reading at the right size.
func (s *search) sizeAndPlaces() (hot *Finding, codec *trial, read trial) {
	if hot = s.temperature(); hot == nil {
		return nil, s.codec(), s.read
	}
	scaled := *s
	scaled.read = s.decoded(Finding{}, func(dst, _ []float64) { floats.Scale(hot.Number, dst) })
	if codec = scaled.codec(); codec != nil && s.mended(codec.Line).temperature() == nil {
		if alone := s.codec(); alone != nil {
			return nil, alone, s.read
		}
	}
	return hot, codec, scaled.read
}

// mended is the search with the levels that the targets have once answers are read along a line.
func (s *search) mended(l observed.Line) *search {
	out, samples := *s, *s.Samples
	out.Samples, samples.Level = &samples, make([]int, s.Len())
	for i, y := range s.Exact {
		samples.Level[i] = min(max(int(math.Round((y-l.Offset)/l.Slope)), 1), s.Code.Levels())
	}
	return &out
}

// less says how the mend of a fault changes the error.
func (f *Finding) less() string {
	gain := 100 * (1 - f.Mended/f.Error)
	if !(gain >= 0.05) {
		return "the error hardly changes"
	}
	return fmt.Sprintf("the error is %.2g %% smaller", gain)
}

// decoded reads the samples with their outputs changed, by the decoder that is best for the half that
// chooses. change may be nil.
func (s *search) decoded(f Finding, change func(dst, z []float64)) trial {
	return s.with(f, s.Code, s.Decodings, change)
}

// with is decoded for another code, with its decoders.
func (s *search) with(f Finding, c *code.Code, decodings []observed.Decoding, change func(dst, z []float64)) trial {
	sample := observed.NewSample(s.Bits, decode.NewCorrelations(c))
	z, labels, read := make([]float64, s.Bits), make([]float64, len(decodings)), observed.LabelsOf(decodings).Read
	all, cancelled := make([]trial, len(decodings)), false
	for i := range s.Len() {
		if i%64 == 0 {
			cancelled = s.ctx.Err() != nil
		}
		if cancelled { // Find returns no finding; the trial has all answers, whatever they are
			for r := range all {
				all[r].answer = append(all[r].answer, s.Exact[i])
			}
			continue
		}
		copy(z, s.Row(i))
		if change != nil {
			change(z, s.Row(i))
		}
		sample.Set(z)
		read(labels, sample)
		for r, label := range labels {
			all[r].answer = append(all[r].answer, label)
		}
	}
	for r := range all {
		all[r].errors = s.off(c, all[r].answer)
	}
	best := *least(all)
	best.Finding = f
	return best
}

// off are the errors of answers in levels of a code, which may lie on a circle, where real labels have one more.
func (s *search) off(c *code.Code, answers []float64) []float64 {
	out, levels, scale := make([]float64, len(answers)), float64(c.Levels()), 1.0
	if c.Circular() && s.Input.Labels.Real {
		scale = levels / (levels - 1)
	}
	for i, v := range answers {
		if out[i] = math.Abs(v - 1 - scale*(s.Exact[i]-1)); c.Circular() {
			out[i] = min(out[i], levels-out[i]) / scale
		}
	}
	return out
}

// mean is that of every second number, from the first (0) or the second (1).
func mean(v []float64, from int) float64 {
	sum, n := 0.0, 0.0
	for i := from; i < len(v); i += 2 {
		sum, n = sum+v[i], n+1
	}
	return sum / n
}

// judge sets the errors of a trial, by the half of the samples that chose nothing, and returns how many
// standard errors it gains.
func (s *search) judge(t *trial) (gain float64) {
	var by observed.Sums
	for i := 1; i < s.Len(); i += 2 {
		by.Add(s.read.errors[i] - t.errors[i])
	}
	width := s.Input.Labels.Width()
	t.Error, t.Mended = width*mean(s.read.errors, 1), width*mean(t.errors, 1)
	e := by.Error()
	return e.Mean / max(e.StdErr, math.SmallestNonzeroFloat64)
}

// gains reports whether a trial gains so much that it is a fault.
func (s *search) gains(t *trial) bool {
	return s.judge(t) > sure && t.Error-t.Mended > worthwhile*t.Error
}

// least is the trial that is best for the half that chooses, the first of those that only roundings tell apart.
func least(all []trial) *trial {
	const rounding = 1e-9
	best := &all[0]
	for i := range all {
		if mean(all[i].errors, 0) < (1-rounding)*mean(best.errors, 0) {
			best = &all[i]
		}
	}
	return best
}

// wrongReading is a fault in what the outputs are taken for: at most one. Numbers that are no logits, or no
// probabilities, are told by themselves; other codes and orders of columns by the error that they gain, which
// must be less than that of guessing.
func (s *search) wrongReading() *trial {
	if x := s.kinds(); x != nil {
		s.judge(x)
		return x
	}
	all := slices.Concat(s.turned(), s.codes())
	best := least(all)
	known := s.gains(best) && s.told(best)
	if p := s.permuted(); p != nil {
		if s.told(p) && (!known || mean(p.errors, 0) < (1-worthwhile)*mean(best.errors, 0)) {
			best, known = p, true
		}
	}
	if !known {
		return nil
	}
	return best
}

// told reports whether the error of a trial is not that of guessing.
func (s *search) told(t *trial) bool {
	middle := slices.Sorted(slices.Values(s.Exact))[s.Len()/2]
	guess := 0.0
	for _, y := range s.Exact {
		guess += math.Abs(y-middle) / float64(s.Len())
	}
	return mean(t.errors, 1) < (1-2*worthwhile)*guess
}

// turned are readings of outputs whose bits or levels are the other way round.
func (s *search) turned() []trial {
	levels := trial{Finding: Finding{Name: "reversed", Number: -1, Text: "the levels are reversed: answers fall where " +
		"targets rise", Mend: "reverse the targets, or the levels of the network"}}
	for _, v := range s.read.answer {
		levels.answer = append(levels.answer, float64(s.Code.Levels()+1)-v)
	}
	levels.errors = s.off(s.Code, levels.answer)
	return []trial{
		s.decoded(Finding{Name: "inverted", Number: -1, Text: "the outputs are inverted: ones and zeros are exchanged",
			Mend: "negate the logits, or exchange ones and zeros"}, func(dst, _ []float64) { floats.Scale(-1, dst) }),
		levels,
	}
}

// bitwise reports whether the network may have been trained bit by bit.
func (s *search) bitwise() bool { return !s.Code.OneHot() && (s.Training == head.BCE || !s.Said) }

// telling is how much each column says of each bit, columns × bits: their correlation; after a training bit by bit,
// whose logits may all rise with the label alike, the share of right decisions, from −1 to 1. noise is what chance
// rarely adds to a sum of four.
func (s *search) telling() (r *mat.Dense, noise float64) {
	const work = 1 << 26
	m := s.Bits
	n := min(s.Len(), max(fewest, work/(m*m)))
	values, bits := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	signs := s.bitwise()
	for i := range n {
		for k, v := range s.Row(i) {
			if signs {
				v = math.Copysign(1, v)
			}
			values.Set(i, k, v)
			if bits.Set(i, k, -1); s.Code.Bit(s.Level[i]-1, k) {
				bits.Set(i, k, 1)
			}
		}
	}
	if !signs { // deviations from the means, in units of which the squares add up to n
		for _, of := range []*mat.Dense{values, bits} {
			for k := range m {
				column := mat.Col(nil, k, of)
				floats.AddConst(-floats.Sum(column)/float64(n), column)
				floats.Scale(math.Sqrt(float64(n))/floats.Norm(column, 2), column)
				of.SetCol(k, column)
			}
		}
	}
	r = mat.NewDense(m, m, nil)
	r.Mul(values.T(), bits)
	r.Apply(func(_, _ int, sum float64) float64 {
		if sum /= float64(n); math.IsNaN(sum) || math.IsInf(sum, 0) { // of what is the same in all samples
			return 0
		}
		return sum
	}, r)
	return r, sure * 2 / math.Sqrt(float64(n))
}

// order is the column of each bit, from 0: two are exchanged where that says more of their bits than before by least,
// those first that gain most. said is how much they say of them.
func order(r *mat.Dense, least float64) (from []int, said float64) {
	m, _ := r.Dims()
	for k := range m {
		from = append(from, k)
	}
	for range 2 * m {
		most, first, second := least, 0, 0
		for i, a := range from {
			of := r.RawRowView(a)
			for j, b := range from[:i] {
				as := r.RawRowView(b)
				if gain := of[j] + as[i] - of[i] - as[j]; gain > most {
					most, first, second = gain, i, j
				}
			}
		}
		if first == second {
			break
		}
		from[first], from[second] = from[second], from[first]
	}
	for bit, column := range from {
		said += r.At(column, bit)
	}
	return from, said
}

// permuted is a reading with the columns in the order in which they say most of their bits, or reversed where that says
// as much; nil where they say most in their own. Columns of a network that is not trained say little in any order, or
// much of the same bits.
func (s *search) permuted() *trial {
	// Of what columns say in the best order: what they say in their own, from which on few are elsewhere; what they say in
	// reverse, for neighbours of unary say almost the same; and of what each says at best.
	const disorder, alike, clear = 0.75, 0.95, 0.85
	m := s.Code.Bits()
	if m > mostBits || m < 3 {
		return nil
	}
	r, noise := s.telling()
	from, best := order(r, 0)
	if mat.Trace(r) >= disorder*best { // most columns have theirs
		from, best = order(r, noise)
	}
	f := Finding{Name: "permuted"}
	var places, columns []int
	turned, ofColumns, ofBits := 0.0, 0.0, 0.0
	for bit, column := range from {
		turned += r.At(m-1-bit, bit)
		ofColumns, ofBits = ofColumns+slices.Max(r.RawRowView(column)), ofBits+floats.Max(mat.Col(nil, bit, r))
		if f.Order = append(f.Order, column+1); column != bit {
			places, columns = append(places, bit+1), append(columns, column+1)
		}
	}
	if len(columns) == 0 || best <= 0 || !s.Code.OneHot() && best < clear*max(ofColumns, ofBits) {
		return nil
	}
	const few = 6
	f.Number = float64(len(columns))
	f.Text = fmt.Sprintf("%d columns stand in another order than the bits of %s", len(columns), s.Code.Name())
	f.Mend = "put the columns in the order of the code: it begins with columns " + position.List(f.Order[:min(m, 8)])
	switch {
	case turned >= alike*best:
		for bit := range from {
			from[bit] = m - 1 - bit
		}
		f = Finding{Name: "reversed", Number: -1, Text: "the columns stand in reverse order",
			Mend: "reverse the columns of the outputs"}
	case len(columns) <= few:
		f.Text = "columns " + position.List(places) + " stand in another order than the bits of " + s.Code.Name()
		f.Mend = fmt.Sprintf("put columns %s in the places of %s", position.List(columns), position.List(places))
	}
	t := s.decoded(f, func(dst, z []float64) {
		for bit, column := range from {
			dst[bit] = z[column]
		}
	})
	if gain := s.judge(&t); t.Mended > (1+same)*t.Error || !s.bitwise() && gain < sure {
		return nil
	}
	return &t
}

// codes are readings as other codes of as many levels and bits.
func (s *search) codes() (out []trial) {
	if s.Code.Bits() > mostBits {
		return nil
	}
	for _, family := range code.Families() {
		levels := s.Code.Levels()
		if family.Name == s.Code.Name() || family.Bits(levels) != s.Bits {
			continue
		}
		c, err := code.New(family.Name, levels)
		if err != nil || slices.Equal(words(c), words(s.Code)) {
			continue
		}
		decodings, err := observed.Decodings(s.Decoders, c, s.Kind, decode.Options{Temperature: 1})
		if err != nil || len(decodings) == 0 {
			continue
		}
		out = append(out, s.with(Finding{Name: "code", Number: float64(s.Bits),
			Text: fmt.Sprintf("%s is the wrong code: the outputs are those of %s, which has as many bits", s.Code.Name(),
				c.Name()),
			Mend: "give " + position.Flag("code", c.Name())}, c, decodings, nil))
	}
	return out
}

func words(c *code.Code) (out []uint64) {
	for i := range c.Levels() {
		out = append(out, c.Word(i)...)
	}
	return out
}
