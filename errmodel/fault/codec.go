package fault

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

// crossed is a trial along lines of the answers of a decoder: each half of the samples is read
// along the line that the other half chooses. The trial's own line is that of all samples.
func (s *search) crossed(f Finding, way *trial, choose func(half int) observed.Line) *trial {
	t := trial{Finding: f, Line: choose(both), answer: make([]float64, s.Len())}
	for half := range 2 {
		l := choose(half)
		for i := range s.rows(1 - half) {
			t.answer[i] = l.At(way.answer[i])
		}
	}
	t.errors = s.off(s.Code, t.answer)
	s.judge(&t)
	return &t
}

// fixed is a line that no sample chooses.
func fixed(offset, slope float64) func(int) observed.Line {
	return func(int) observed.Line { return observed.Line{Offset: offset, Slope: slope} }
}

// codec finds that a line of the answers has a smaller error: one of an encoder that places the
// levels differently, shifted by halves of a level, with edges for centres or by the median, where
// that gains most of what any line gains, or stretched from one end, or any other.
func (s *search) codec() *trial {
	// A line is one of many: how many standard errors it gains at least, and which share of the
	// error; how near the error may be to that of guessing; and what a simple line may lack of the
	// gain.
	const chosen, least, guess, simple = 3.0, 0.02, 0.95, 0.25
	levels := float64(s.Code.Levels())
	w, way := 1/levels, &s.read // of edges, levels are levels·(1 − w) apart
	var all []*trial
	if !s.predicts() {
		for _, by := range []float64{-0.5, 0.5, -1, 1} {
			all = append(all, s.crossed(Finding{Name: "shift", Number: -by}, way, fixed(by, 1)))
		}
		all = append(all, s.crossed(Finding{Name: "edges", Number: 1 - w}, way, fixed(0.5+0.5*w, 1-w)),
			s.crossed(Finding{Name: "edges", Number: levels / (levels - 1)}, way, fixed(-0.5*(levels+1)/(levels-1), levels/(levels-1))))
	}
	fixedLines := len(all)
	all = append(all, s.crossed(Finding{Name: "shift"}, way, s.median), s.crossed(Finding{Name: "stretch"}, way, s.from(levels)),
		s.crossed(Finding{Name: "stretch"}, way, s.from(1)), s.crossed(Finding{Name: "line"}, way, s.line))
	var best *trial
	for _, t := range all {
		if t.Slope > 0 && (best == nil || t.Mended < best.Mended) {
			best = t
		}
	}
	if best == nil || !s.told(best, guess) ||
		!(best.Error-best.Mended > chosen*best.StdErr && best.Error-best.Mended > least*best.Error) {
		return nil
	}
	any, near, named := best, simple*(best.Error-best.Mended), false
	if s.predicts() {
		near = worthwhile * best.Mended
	}
	for i, t := range all[:fixedLines+1] { // the last is the shift by the median
		if (!named || i < fixedLines && t.Mended < best.Mended) && t.Mended-any.Mended < near && t.Helps() {
			best, named = t, true
		}
	}
	s.describe(best)
	return best
}

// median is a shift by how far answers lie above the targets in the median.
func (s *search) median(half int) observed.Line {
	var above []float64
	for i := range s.rows(half) {
		above = append(above, s.read.answer[i]-s.Exact[i])
	}
	slices.Sort(above)
	return observed.Line{Offset: -above[len(above)/2], Slope: 1}
}

// from is the line of least squares through an end of the levels.
func (s *search) from(end float64) func(half int) observed.Line {
	return func(half int) observed.Line {
		xx, xy := 0.0, 0.0
		for i := range s.rows(half) {
			x := s.read.answer[i] - end
			xx, xy = xx+x*x, xy+x*(s.Exact[i]-end)
		}
		return observed.Line{Offset: end - end*xy/xx, Slope: xy / xx}
	}
}

// line is that of least squares.
func (s *search) line(half int) observed.Line {
	var sums observed.LineSums
	for i := range s.rows(half) {
		sums.Add(s.read.answer[i], s.Exact[i])
	}
	return sums.Line()
}

// describe writes the text and the mend of a line.
func (s *search) describe(t *trial) {
	label, l, width := s.Input.Labels.Label, t.Line, s.Input.Labels.Width()
	side, sign := "above", "subtract"
	if l.Offset >= 0 { // which brings the answers down to the targets, or up
		side, sign = "below", "add"
	}
	apart := map[float64]string{0.5: "half a level", 1: "one level"}[math.Abs(l.Offset)]
	switch {
	case t.Name == "shift" && s.predicts():
		t.Name, t.Number = "bias", -l.Offset
		size := table.Short(width * math.Abs(l.Offset))
		t.Text = fmt.Sprintf("the predictions lie %s %s the targets in the median", size, side)
		t.Mend = fmt.Sprintf("%s %s: by samples that took no part in this, %s then", sign, size, t.less())
		return
	case s.predicts():
		t.Name, t.Number = "stretch", l.Slope
		factor, offset := table.Short(l.Slope), label(l.At(1))-l.Slope*label(1)
		sign = map[bool]string{true: "subtract", false: "add"}[offset < 0]
		t.Text = fmt.Sprintf("the targets rise by %s where the predictions rise by 1: their units or ranges differ, or the "+
			"network is trained too little or too long", factor)
		t.Mend = fmt.Sprintf("multiply the predictions by %s, then %s %s: by samples that took no part in this, %s then",
			factor, sign, table.Short(math.Abs(offset)), t.less())
		return
	case t.Name == "shift" && apart != "":
		t.Text = fmt.Sprintf("answers lie about %s %s the targets: encoder and decoder place the levels %s apart, or the network is biased",
			apart, side, apart)
	case t.Name == "shift":
		t.Number = -l.Offset
		t.Text = fmt.Sprintf("answers lie %.2f levels %s the targets in the median: encoder and decoder place the levels "+
			"differently, or the network is biased", math.Abs(l.Offset), side)
	default:
		t.Number = l.Slope
		t.Text = fmt.Sprintf("answers spread %.2g %% %s than the targets: encoder and decoder have different ranges, or "+
			"the network is trained too little or too long",
			100*math.Abs(1/l.Slope-1), map[bool]string{true: "wider", false: "narrower"}[l.Slope < 1])
		if t.Name == "edges" {
			t.Text += "; or the ends of the range are " + map[bool]string{true: "edges of bins, whose centres are the levels",
				false: "the first and the last level, and not edges of bins"}[l.Slope < 1]
		}
	}
	last := float64(s.Code.Levels())
	s.ranged(t, l.At(1), l.At(last), "")
	t.Mend = "fit a decoder, or " + t.Mend + " if the encoder places levels so: by samples that took no part in this, " + t.less() + " then"
}

// ranged makes a range from lo to hi, in levels, the mend of a trial, or a fitted decoder where it
// leaves out targets.
func (s *search) ranged(t *trial, lo, hi float64, more string) {
	ends := position.Range(lo, hi)
	given := fmt.Sprintf("%.6g:%.6g", lo, hi)
	if s.Input.Labels.Real {
		given = fmt.Sprintf("%.6g:%.6g", s.Input.Labels.Label(lo), s.Input.Labels.Label(hi))
		ends = position.Flag("range", fmt.Sprintf("%.4g:%.4g", s.Input.Labels.Label(lo), s.Input.Labels.Label(hi)))
	}
	t.Mend, t.Arguments = "give "+ends+more, []string{"--range", given}
	slack := 1e-6 * (hi - lo)
	if !s.Code.Circular() && (slices.Min(s.Exact) < lo-slack || slices.Max(s.Exact) > hi+slack) {
		t.Arguments = []string{"--fit-decoder"}
	}
}

// units are readings of labels in another unit: the network's times a power of ten.
func (s *search) units() (out []*trial) {
	if !s.Input.Labels.Real {
		return nil
	}
	zero := 1 - s.Input.Labels.Lo/s.Input.Labels.Width() // the label 0, in levels
	for _, factor := range []float64{10, 100, 1000, 0.1, 0.01, 0.001} {
		t := s.crossed(Finding{Name: "unit", Number: factor,
			Text: fmt.Sprintf("the targets are in another unit than the answers: %v times as large", factor)},
			&s.read, fixed(zero*(1-factor), factor))
		s.ranged(t, t.At(1), t.At(float64(s.Code.Levels())), ", if the network's labels were in another unit")
		if e := s.crossed(Finding{}, &s.read, s.line); e.Mended > 0.5*t.Mended { // no other line is much nearer
			out = append(out, t)
		}
	}
	return out
}

// angles are readings of levels on a circle: turned by some angle, mirrored, or in another unit,
// such as half angles or radians.
func (s *search) angles() (out []*trial) {
	levels, label := float64(s.Code.Levels()), s.Input.Labels.Label
	degrees := s.Input.Labels.Width() * levels // of a turn, in the unit of the labels
	still := s.crossed(Finding{}, &s.read, s.turning(0))
	for _, x := range []struct {
		name, text string
		factor     float64
	}{
		{"offset", "the angles are turned: answers lie %s ahead of the targets", 1},
		{"mirror", "the angles are mirrored: answers fall where targets rise", -1},
		{"unit", "the targets are half of the answers: half angles", 0.5},
		{"unit", "the targets are twice the answers: the network has half angles", 2},
		{"unit", "the targets are radians where answers are degrees", math.Pi / 180},
	} {
		t := s.crossed(Finding{Name: x.name, Number: x.factor, Text: x.text}, &s.read, s.turning(x.factor))
		if !(t.Mended < 0.5*still.Mended) { // the targets' own direction is nearly as near
			continue
		}
		turn := math.Remainder(t.Offset-(1-x.factor), levels) // where level 1 goes
		switch x.name {
		case "offset":
			t.Number = -turn
			t.Text = fmt.Sprintf(x.text, table.Short(-turn/levels*degrees))
			s.ranged(t, 1+turn, 1+turn+levels, "")
		case "mirror":
			t.Mend = fmt.Sprintf("subtract the targets from %s", table.Short(math.Mod(label(t.Offset)+label(0)+2*degrees, degrees)))
		default:
			s.ranged(t, t.At(1), t.At(1)+x.factor*levels, "")
		}
		out = append(out, t)
	}
	return out
}

// turning is a line round the circle of a slope, whose offset is the direction of the mean of the
// differences.
func (s *search) turning(slope float64) func(half int) observed.Line {
	return func(half int) observed.Line {
		x, y, turn := 0.0, 0.0, 2*math.Pi/float64(s.Code.Levels())
		for i := range s.rows(half) {
			sin, cos := math.Sincos(turn * (s.Exact[i] - slope*s.read.answer[i]))
			x, y = x+cos, y+sin
		}
		return observed.Line{Offset: math.Atan2(y, x) / turn, Slope: slope}
	}
}

// circle finds that levels on a line are angles: answers near an end go round to the other one as
// often as noise takes them there, so that about every third does of the targets within the typical
// error; a code that wraps alone has few.
func (s *search) circle() *trial {
	const far, often, few = 0.5, 0.15, 3
	around := float64(s.Code.Levels() - 1)
	on := Finding{Name: "circle", Number: around, Arguments: []string{"--circular"}, Mend: "give " + position.Flag("circular", ""),
		Text: "the ends of the range are one point, as angles have them"}
	t := trial{Finding: on, answer: s.read.answer}
	for _, e := range s.read.errors {
		t.errors = append(t.errors, min(e, max(around-e, 0)))
	}
	near := max(2*mean(t.errors), 1)
	if c := s.Code.OnCircle(true); !s.predicts() && !c.Uneven() {
		of, err := observed.Decodings(s.Decoders, c, s.Kind, decode.Options{Temperature: 1})
		if err == nil && len(of) > 0 {
			if x := s.best(on, s.with(c, of, nil)); mean(x.errors) < mean(t.errors) {
				t = *x
			}
		}
	}
	if near > around/4 {
		return nil
	}
	var ends, gone [2]float64
	for i, y := range s.Exact {
		for end, off := range []float64{y - 1, around + 1 - y} {
			if off <= near {
				if ends[end]++; s.read.errors[i] > far*around {
					gone[end]++
				}
			}
		}
	}
	if gone[0] < few || gone[1] < few || gone[0] < often*ends[0] || gone[1] < often*ends[1] {
		return nil
	}
	return &t
}

// clipped finds that the range clips targets: many lie at the very end of it, and few beside.
func (s *search) clipped() *Finding {
	if !s.Input.Labels.Real {
		return nil
	}
	// The share of an end above which it is no label that many samples have by chance, and over that of any
	// label between the ends.
	const many, over = 0.03, 1.5
	counts, errors, inner := map[float64]float64{}, map[float64]float64{}, 0.0
	for i, y := range s.Exact {
		counts[y], errors[y] = counts[y]+1, errors[y]+s.read.errors[i]
	}
	lo, hi := slices.Min(s.Exact), slices.Max(s.Exact)
	for y, n := range counts {
		if y != lo && y != hi {
			inner = max(inner, n)
		}
	}
	clipped, cost := 0.0, 0.0
	for _, end := range []float64{lo, hi} {
		if n := counts[end]; n >= many*float64(s.Len()) && n >= over*inner {
			clipped, cost = clipped+n/float64(s.Len()), cost+errors[end]
		}
	}
	if clipped == 0 {
		return nil
	}
	return found("clipped", clipped, fmt.Sprintf("the range clips %.3g %% of the targets: so many are the very smallest or "+
		"largest; they have %.3g %% of the error", 100*clipped, 100*cost/floats.Sum(s.read.errors)),
		"give the network a wider range, and train it again: what lies beyond the ends is in no error here")
}
