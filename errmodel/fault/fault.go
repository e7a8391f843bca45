// Package fault finds what is wrong with the outputs of a network, or with how they are read.
//
// Each fault is a small function: of sums over all samples, or a [trial], which reads some samples with a mend. Each half
// of these samples is read with the mend that the other half chose, so that all of them judge it. [Find] lists what
// was found: each a [Finding] with its name, its number and its mend.
package fault

import (
	"cmp"
	"context"
	"fmt"
	"iter"
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
	// shift, edges, stretch, line, unit, bias, circle, offset, mirror, reversed, inverted,
	// permuted, code, probabilities, percent, logarithms, softmax-twice, sigmoid-twice, sigmoid,
	// same, one-sided, guessing, training, temperature, clipped, dead or empty
	Name string `json:"name"`
	// size of the fault: the shift or the bias in levels, the slope or the factor, the number of
	// columns or levels, the share of targets or levels, or the temperature τ
	Number float64 `json:"number"`
	// mean |answer − target| as read; null where no answers were compared
	Error float64 `json:"error"`
	// the same with the mend, which other samples chose
	Mended float64 `json:"mended"`
	// standard error of error − mended, paired by sample
	StdErr float64 `json:"stderr"`
	// log score as read and with the mend, in nats; only of temperature, and of permuted and
	// reversed columns that cost no error
	LogScores *[2]float64 `json:"log_scores,omitempty"`
	// what the mend adds to the arguments of fit; empty where it is no argument
	Arguments []string `json:"arguments"`
	// the column that belongs at each place, from 1; only of permuted
	Order []int `json:"order,omitempty"`
	// what is wrong, as a sentence
	Text string `json:"text"`
	// what to do, as the end of a sentence
	Mend string `json:"mend"`
}

// found is a fault of which no answers were compared.
func found(name string, number float64, text, mend string) *Finding {
	return &Finding{Name: name, Number: number, Error: math.NaN(), Mended: math.NaN(), StdErr: math.NaN(), Arguments: []string{},
		Text: text, Mend: mend}
}

// Helps reports whether the mend makes the error smaller: by two standard errors, and by 1 %.
func (f *Finding) Helps() bool {
	const surely, least = 2, 0.01
	gain := f.Error - f.Mended
	return gain > surely*f.StdErr && gain > least*f.Error
}

// Told reports whether a sentence says the finding: where its mend helps, or no answers were compared.
func (f *Finding) Told() bool { return f.Helps() || math.IsNaN(f.Error) || f.LogScores != nil }

// Misread reports whether the outputs or the levels are read so wrongly that no error as read says anything of
// the network: where a mend takes a tenth of the error away.
func (f *Finding) Misread() bool {
	switch f.Name {
	case "same", "one-sided", "guessing":
		return true
	case "line", "temperature":
		return false
	}
	return f.Helps() && f.Error-f.Mended > worthwhile*f.Error
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
	// worthwhile is the share of the error from which on a mend shows that no error as read says
	// anything, and sure in how many standard errors another reading gains: there are several
	// readings, of which one may gain by chance.
	worthwhile, sure = 0.1, 4
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
	ways []trial // as it is read, by each decoder
	read trial   // by the best one
}

// rows are the samples of a half, 0 or 1, or of both.
func (s *search) rows(half int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.Len() {
			if (half == both || i%2 == half) && !yield(i) {
				return
			}
		}
	}
}

// both stands for all samples in the place of a half.
const both = -1

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
	if s.Len() >= fewest && len(in.Decodings) > 0 && (in.predicts() || !in.Code.Real()) {
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
			if !slices.ContainsFunc(out, func(f Finding) bool { return f.Name == "clipped" }) {
				out.add(in.empty())
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// reading finds what is wrong with how outputs are read: with what they are, or else where their
// levels lie, and how large they are. One cause is told, and not what it explains.
func (s *search) reading() (out findings) {
	if s.predicts() {
		s.ways = []trial{{answer: s.Own, errors: s.off(s.Code, s.Own)}}
	} else {
		s.ways = s.with(s.Code, s.Decodings, nil)
	}
	s.read = *least(s.ways)
	if x := s.wrongReading(); x != nil {
		x.Text += ": once that is mended, " + x.less()
		out.add(&x.Finding)
		if x.Told() {
			return out
		}
	}
	clipped := s.clipped()
	if s.Code.Circular() || s.Code.Uneven() {
		return out
	}
	const most = 0.5 // of the error, which clipped targets do not explain
	out.add(clipped)
	if t := s.codec(); t != nil && (clipped == nil || t.Mended < most*t.Error) {
		out.add(&t.Finding)
		s = s.mended(t.Line)
	}
	if !s.predicts() && s.guessing() == nil {
		out.add(s.temperature())
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(gain(b), gain(a)) })
	return out
}

// gain is how much smaller the error is with a mend, where it helps.
func gain(f Finding) float64 {
	if !f.Helps() {
		return 0
	}
	return f.Error - f.Mended
}

// mended is the search with the targets as they are where answers are read along a line.
func (s *search) mended(l observed.Line) *search {
	out, samples := *s, *s.Samples
	out.Samples, samples.Level, samples.Exact = &samples, make([]int, s.Len()), make([]float64, s.Len())
	for i, y := range s.Exact {
		samples.Exact[i] = (y - l.Offset) / l.Slope
		samples.Level[i] = min(max(int(math.Round(samples.Exact[i])), 1), s.Code.Levels())
	}
	out.read.errors = out.off(s.Code, s.read.answer)
	return &out
}

// less says how the mend of a fault changes the error.
func (f *Finding) less() string {
	gain := 100 * (1 - f.Mended/f.Error)
	if !(gain >= 0.05) {
		return "the error hardly changes"
	}
	return fmt.Sprintf("the error is %.2g %% smaller (standard error %.1g %%)", gain, 100*f.StdErr/f.Error)
}

// decoded reads the samples with their outputs changed, by the decoder that is best then.
func (s *search) decoded(f Finding, change func(dst, z []float64)) *trial {
	return s.best(f, s.with(s.Code, s.Decodings, func(dst, z []float64, _ int) { change(dst, z) }))
}

// best is the best of some readings, as a fault.
func (s *search) best(f Finding, all []trial) *trial {
	t := *least(all)
	t.Finding = f
	s.judge(&t)
	return &t
}

// with reads the samples by the words of a code, with its decoders. change may be nil.
func (s *search) with(c *code.Code, decodings []observed.Decoding, change func(dst, z []float64, i int)) []trial {
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
			change(z, s.Row(i), i)
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
	return all
}

// off are the errors of answers in levels of a code, which may lie on a circle where those of the
// network do not: real labels have one more then.
func (s *search) off(c *code.Code, answers []float64) []float64 {
	out, levels, scale := make([]float64, len(answers)), float64(c.Levels()), 1.0
	if c.Circular() && !s.Code.Circular() && s.Input.Labels.Real {
		scale = levels / (levels - 1)
	}
	for i, v := range answers {
		if out[i] = math.Abs(v - 1 - scale*(s.Exact[i]-1)); c.Circular() {
			out[i] = math.Abs(math.Remainder(out[i], levels)) / scale
		}
	}
	return out
}

// mean is that of all numbers.
func mean(v []float64) float64 { return floats.Sum(v) / float64(len(v)) }

// judge sets the errors of a trial, and returns how many standard errors it gains.
func (s *search) judge(t *trial) (gain float64) {
	if t.Arguments == nil {
		t.Arguments = []string{}
	}
	width := s.Input.Labels.Width()
	e := apart(&s.read, t).Times(width)
	t.Error, t.Mended, t.StdErr = width*mean(s.read.errors), width*mean(t.errors), e.StdErr
	return e.Mean / max(e.StdErr, math.SmallestNonzeroFloat64)
}

// apart is by how much the error of a trial is larger than that of another one, paired by sample.
func apart(a, b *trial) observed.Error {
	var by observed.Sums
	for i, e := range a.errors {
		by.Add(e - b.errors[i])
	}
	return by.Error()
}

// gains reports whether a trial gains so much that it is a fault, and not by guessing.
func (s *search) gains(t *trial) bool {
	const least, guess = 0.03, 0.8 // of the error, and of that of guessing
	return s.judge(t) > sure && t.Error-t.Mended > least*t.Error && s.told(t, guess)
}

// least is the best trial, the first of those that only roundings tell apart.
func least(all []trial) *trial {
	const rounding = 1e-9
	best := &all[0]
	for i := range all {
		if mean(all[i].errors) < (1-rounding)*mean(best.errors) {
			best = &all[i]
		}
	}
	return best
}

// wrongReading is a fault in what the outputs are taken for: at most one. Numbers that are no
// logits, or no probabilities, are told by themselves; others by the error that they gain, which
// must be less than that of guessing. Of those that gain alike, the first is told.
func (s *search) wrongReading() *trial {
	const alike = 0.03
	if !s.predicts() && !s.Code.Circular() {
		if x := s.kinds(); x != nil {
			return x
		}
	}
	var best *trial
	for _, t := range s.readings() {
		if s.gains(t) && (best == nil || t.Mended < (1-alike)*best.Mended) {
			best = t
		}
	}
	// Levels that are shifted are columns that are, and a code of another number of levels.
	if best != nil && (best.Name == "permuted" || best.Name == "code") && !s.Code.Uneven() {
		if t := s.codec(); t != nil && t.Mended < (1+worthwhile)*best.Mended {
			return nil
		}
	}
	if best == nil && !s.predicts() && !s.Code.Circular() {
		return s.unordered()
	}
	return best
}

// unordered finds columns in another order that costs a decoder nothing which counts ones: by the
// log score of the bits, in nats, of which another order leaves less than a half.
func (s *search) unordered() *trial {
	const much = 0.5
	if s.Kind.Hard() || !s.bitwise() {
		return nil
	}
	for _, t := range append(s.turned()[1:2], s.permuted()...) {
		order := t.Order
		for k := s.Bits; len(order) < s.Bits; k-- { // reversed
			order = append(order, k)
		}
		ordered, samples := *s, *s.Samples
		ordered.Samples, samples.Outputs = &samples, nil
		for i := range s.Len() {
			for _, column := range order {
				samples.Outputs = append(samples.Outputs, s.Row(i)[column-1])
			}
		}
		t.LogScores = &[2]float64{s.loss(false, both, keep, 1), ordered.loss(false, both, keep, 1)}
		if t.LogScores[1] < much*t.LogScores[0] && t.Mended <= t.Error+2*t.StdErr {
			return t
		}
	}
	return nil
}

// readings are those of other codes, orders, directions and units, the simplest first.
func (s *search) readings() (out []*trial) {
	if s.Code.Circular() {
		return s.angles()
	}
	if !s.Code.Uneven() {
		out = append(out, s.units()...)
	}
	if !s.predicts() {
		out = slices.Concat(out, s.turned(), s.codes(), s.permuted())
	}
	if t := s.circle(); t != nil {
		out = append(out, t)
	}
	return out
}

// told reports whether the error of a trial is below a share of that of guessing.
func (s *search) told(t *trial, share float64) bool {
	middle := slices.Sorted(slices.Values(s.Exact))[s.Len()/2]
	guess := slices.Repeat([]float64{middle}, s.Len())
	return mean(t.errors) < share*mean(s.off(s.Code, guess))
}

// turned are readings of outputs whose levels or bits are the other way round.
func (s *search) turned() []*trial {
	levels := make([]trial, len(s.ways))
	for r, way := range s.ways {
		for _, v := range way.answer {
			levels[r].answer = append(levels[r].answer, float64(s.Code.Levels()+1)-v)
		}
		levels[r].errors = s.off(s.Code, levels[r].answer)
	}
	reversed := s.best(Finding{Name: "reversed", Number: -1, Text: "the levels are reversed: answers fall where targets rise",
		Mend: "reverse the targets, or the levels of the network"}, levels)
	columns := s.decoded(Finding{Name: "reversed", Number: -1, Text: "the columns stand in reverse order",
		Mend: "reverse the columns of the outputs"}, func(dst, _ []float64) { slices.Reverse(dst) })
	inverted := s.decoded(Finding{Name: "inverted", Number: -1, Text: "the outputs are inverted: ones and zeros are exchanged",
		Mend: "negate the logits, or exchange ones and zeros"}, func(dst, _ []float64) { floats.Scale(-1, dst) })
	if math.Abs(inverted.Mended-reversed.Mended) <= 1e-6*reversed.Mended { // as of unary, whose words tell both alike
		reversed.Text = "the levels are reversed, or the outputs are inverted: answers fall where targets rise"
	}
	return []*trial{reversed, columns, inverted}
}

// bitwise reports whether the network may have been trained bit by bit.
func (s *search) bitwise() bool { return !s.Code.OneHot() && (s.Training == head.BCE || !s.Said) }

// telling is how much each column says of each bit, columns × bits, in a half of the samples: the
// correlation of the probabilities of a softmax, or of the outputs; after a training bit by bit,
// whose logits may all rise with the label alike, the share of right decisions, from −1 to 1.
func (s *search) telling(half int) *mat.Dense {
	const work = 1 << 26
	m := s.Bits
	n := min(s.Len()/2, max(fewest/2, work/(m*m)))
	values, bits := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	signs, row := s.bitwise(), 0
	for i := range s.rows(half) {
		if row == n {
			break
		}
		z := values.RawRowView(row)
		if copy(z, s.Row(i)); s.Code.OneHot() {
			decode.Softmax(z)
		}
		for k, v := range z {
			if signs {
				z[k] = math.Copysign(1, v)
			}
			if bits.Set(row, k, -1); s.Code.Bit(s.Level[i]-1, k) {
				bits.Set(row, k, 1)
			}
		}
		row++
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
	r := mat.NewDense(m, m, nil)
	r.Mul(values.T(), bits)
	r.Apply(func(_, _ int, sum float64) float64 {
		if sum /= float64(n); math.IsNaN(sum) || math.IsInf(sum, 0) { // of what is the same in all samples
			return 0
		}
		return sum
	}, r)
	return r
}

// order is the column of each bit, from 0: two are exchanged where that says more of their bits than before by least,
// those first that gain most. said is how much they say of them.
func (s *search) order(r *mat.Dense, least float64) (from []int, said float64) {
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
		if first == second || s.ctx.Err() != nil {
			break
		}
		from[first], from[second] = from[second], from[first]
	}
	for bit, column := range from {
		said += r.At(column, bit)
	}
	return from, said
}

// permuted is a reading of each half with the columns in the order in which they say most of their
// bits in the other one; none where they say most in their own.
func (s *search) permuted() []*trial {
	const disorder = 0.75 // of what columns say in the best order, what they say in their own, from which on few are elsewhere
	m := s.Code.Bits()
	if m > mostBits || m < 3 {
		return nil
	}
	noise := sure * 2 / math.Sqrt(float64(s.Len())/2) // what chance rarely adds to a sum of four
	var orders [2][]int
	sum := mat.NewDense(m, m, nil)
	of := func(r *mat.Dense) []int {
		from, said := s.order(r, 0)
		if mat.Trace(r) >= disorder*said { // most columns have theirs
			from, _ = s.order(r, noise)
		}
		return from
	}
	for half := range orders {
		r := s.telling(half)
		orders[half] = of(r)
		sum.Add(sum, r)
	}
	sum.Scale(0.5, sum)
	from := of(sum)
	f := Finding{Name: "permuted"}
	var places, columns []int
	for bit, column := range from {
		if f.Order = append(f.Order, column+1); column != bit {
			places, columns = append(places, bit+1), append(columns, column+1)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	const few = 6
	f.Number = float64(len(columns))
	f.Text = fmt.Sprintf("%d columns stand in another order than the bits of %s", len(columns), s.Code.Name())
	f.Mend = "put the columns in the order of the code: it begins with columns " + position.List(f.Order[:min(m, 8)])
	if len(columns) <= few {
		f.Text = "columns " + position.List(places) + " stand in another order than the bits of " + s.Code.Name()
		f.Mend = fmt.Sprintf("put columns %s in the places of %s", position.List(columns), position.List(places))
	}
	return []*trial{s.best(f, s.with(s.Code, s.Decodings, func(dst, z []float64, i int) {
		for bit, column := range orders[1-i%2] {
			dst[bit] = z[column]
		}
	}))}
}

// codes are readings as other codes of as many bits, of as many levels or, where labels are real,
// of one more or less.
func (s *search) codes() (out []*trial) {
	if s.Code.Bits() > mostBits || s.Code.Uneven() {
		return nil
	}
	for _, family := range code.Families() {
		for _, levels := range []int{s.Code.Levels(), s.Code.Levels() + 1, s.Code.Levels() - 1} {
			same := levels == s.Code.Levels()
			if family.Name == s.Code.Name() || levels < code.MinLevels || family.Bits(levels) != s.Bits ||
				!same && !s.Input.Labels.Real {
				continue
			}
			c, err := code.New(family.Name, levels)
			if err != nil || same && slices.Equal(words(c), words(s.Code)) {
				continue
			}
			decodings, err := observed.Decodings(s.Decoders, c, s.Kind, decode.Options{Temperature: 1})
			if err != nil || len(decodings) == 0 {
				continue
			}
			f := Finding{Name: "code", Number: float64(s.Bits), Arguments: []string{"--code", c.Name()},
				Text: fmt.Sprintf("%s is the wrong code: the outputs are those of %s, which has as many bits", s.Code.Name(),
					c.Name()),
				Mend: "give " + position.Flag("code", c.Name())}
			all := s.with(c, decodings, nil)
			if !same {
				f.Arguments = append(f.Arguments, "--levels", fmt.Sprint(levels))
				f.Mend += " and " + position.Flag("levels", fmt.Sprint(levels))
				for r := range all {
					for i, v := range all[r].answer {
						all[r].answer[i] = 1 + (v-1)*float64(s.Code.Levels()-1)/float64(levels-1)
					}
					all[r].errors = s.off(s.Code, all[r].answer)
				}
			}
			out = append(out, s.best(f, all))
		}
	}
	return out
}

func words(c *code.Code) (out []uint64) {
	for i := range c.Levels() {
		out = append(out, c.Word(i)...)
	}
	return out
}
