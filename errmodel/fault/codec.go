package fault

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/decode"
)

const (
	// near is the bias of sound networks, in levels, in a fifth of their answers: see misplaced. Below placed all is
	// well; a mend counts from moved on, one with a free parameter from movedFree; a simpler mend may cost simpler. A
	// range that is another moves an end level by farthest, and gains more than surely standard errors.
	near                              = 0.08
	placed, moved, movedFree, simpler = 12.0, 10.0, 14.0, 3.0
	farthest, surely                  = 0.4, 2
)

// codec finds that encoder and decoder place the levels differently: shifted by halves of a level,
// with edges for centres, or stretched from one end; or anything that gains much: a shift by more,
// or else a line.
func (s *search) codec() *trial {
	if s.Code.Uneven() {
		return nil
	}
	levels := float64(s.Code.Levels())
	w := 1 / levels // of edges, levels are levels·(1 − w) apart
	var off observed.Sums
	var sorted []float64
	for i, v := range s.read.answer {
		off.Add(v - s.Exact[i])
		sorted = append(sorted, v-s.Exact[i])
	}
	slices.Sort(sorted)
	bias, median, before := off.Error(), sorted[len(sorted)/2], s.misplaced(observed.Line{Offset: 0, Slope: 1})
	var shifts []trial
	for _, by := range []float64{-0.5, 0.5, -1, 1} {
		if t := s.moved("shift", observed.Line{Offset: by, Slope: 1}); s.shifted(&t, bias, median) {
			shifts = append(shifts, t)
		}
	}
	var best *trial
	rest := before
	if len(shifts) > 0 {
		best = least(shifts)
		rest = s.misplaced(best.Line)
	}
	edges := s.moved("edges", observed.Line{Offset: 0.5 + 0.5*w, Slope: 1 - w})
	edges.Text = "the ends of the range are edges of bins, and not the first and the last level as it is read: levels are the centres of bins"
	centres := s.moved("edges", observed.Line{Offset: -0.5 * (levels + 1) / (levels - 1), Slope: levels / (levels - 1)})
	centres.Text = "the ends of the range are the first and the last level, and not edges of bins as it is read"
	for _, t := range []trial{edges, centres, s.moved("stretch", s.from(levels)), s.moved("stretch", s.from(1)),
		s.moved("far", observed.Line{Offset: -s.median(), Slope: 1}), s.moved("line", s.line())} {
		gain, after, far := s.judge(&t), s.misplaced(t.Line), max(math.Abs(t.At(1)-1), math.Abs(t.At(levels)-levels)) > farthest
		told := after < placed && before-after > moved && t.Mended < (1+same)*t.Error
		switch t.Name {
		case "stretch": // it was fitted
			told = told && far && gain > surely && before-after > movedFree && t.Mended < (1-same/3)*t.Error
		case "far", "line":
			told = far && gain > sure && t.Error-t.Mended > worthwhile*t.Error && math.Abs(math.Log(t.Slope)) < 0.3 && s.told(&t)
		}
		if !told || !(t.Slope > 0) || best != nil && best.Name == "far" && t.Mended > (1-worthwhile)*best.Mended {
			continue
		}
		if best == nil || after < rest-simpler && t.Mended < (1-2*worthwhile)*best.Mended || best.Name != "shift" &&
			(after < rest && t.Name == "edges" || after < rest-simpler && t.Mended < 0.95*best.Mended) {
			best, rest = &t, after
		}
	}
	if best == nil {
		return nil
	}
	s.describe(best, bias)
	return best
}

// median is that of how far answers lie above the targets, of the half that chooses: it does not
// move with answers that are clipped.
func (s *search) median() float64 {
	var above []float64
	for i := 0; i < s.Len(); i += 2 {
		above = append(above, s.read.answer[i]-s.Exact[i])
	}
	slices.Sort(above)
	return above[len(above)/2]
}

// moved is a reading of targets at a line of the answers.
func (s *search) moved(name string, l observed.Line) trial {
	t := trial{Finding: Finding{Name: name, Number: l.Slope}, Line: l}
	if l.Slope == 1 {
		t.Number = -l.Offset
	}
	for _, v := range s.read.answer {
		t.answer = append(t.answer, l.At(v))
	}
	t.errors = s.off(s.Code, t.answer)
	return t
}

// shifted reports whether a shift is told. The bias is nearer to the shift than to none, by two standard errors, which
// are small; so is the median of what makes it, which skewed noise does not move; and the judges gain. Or these surely
// gain a twentieth of the error, which sound networks do not: one of both is near the shift then, and none is near none.
func (s *search) shifted(t *trial, bias observed.Error, median float64) bool {
	const enough, small = worthwhile / 2, 0.15
	half, gain := math.Abs(t.Offset)/2, s.judge(t)
	off, middle := math.Abs(bias.Mean+t.Offset), math.Abs(median+t.Offset)
	return off+surely*bias.StdErr < half && bias.StdErr < small && middle < half && gain > 1 ||
		gain > sure && t.Error-t.Mended > enough*t.Error && min(off, middle) < half &&
			min(-bias.Mean/t.Offset, -median/t.Offset) > 0.5
}

// from is the line of least squares of the half that chooses through an end of the levels.
func (s *search) from(end float64) observed.Line {
	xx, xy := 0.0, 0.0
	for i := 0; i < s.Len(); i += 2 {
		x := s.read.answer[i] - end
		xx, xy = xx+x*x, xy+x*(s.Exact[i]-end)
	}
	return observed.Line{Offset: end - end*xy/xx, Slope: xy / xx}
}

// line is that of least squares of the half that chooses.
func (s *search) line() observed.Line {
	var sums observed.LineSums
	for i := 0; i < s.Len(); i += 2 {
		sums.Add(s.read.answer[i], s.Exact[i])
	}
	return sums.Line()
}

// misplaced is how far the targets lie from a line of the answers: in each fifth of the answers the square of
// their mean distance, in units of what sound networks have and of its standard error, added up.
func (s *search) misplaced(l observed.Line) (sum float64) {
	rows := make([]int, s.Len())
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(s.read.answer[a], s.read.answer[b]) })
	const fifths = 5
	for k := range fifths {
		var rest observed.Sums
		for _, i := range rows[k*len(rows)/fifths : (k+1)*len(rows)/fifths] {
			rest.Add(s.Exact[i] - l.At(s.read.answer[i]))
		}
		e := rest.Error()
		sum += e.Mean * e.Mean / (near*near + e.StdErr*e.StdErr)
	}
	return sum
}

// describe writes the text and the mend.
func (s *search) describe(t *trial, e observed.Error) {
	label, l := s.Input.Labels.Label, t.Line
	side := "above"
	if l.Offset >= 0 { // which brings the answers down to the targets, or up; a shift that is told has the bias's sign
		side = "below"
	}
	switch t.Name {
	case "far":
		t.Name = "shift"
		t.Text = fmt.Sprintf("answers lie %.2f levels %s the targets in the median: encoder and decoder place the levels "+
			"differently, or the network is biased", math.Abs(l.Offset), side)
	case "shift":
		t.Text = fmt.Sprintf("answers lie %.2f levels %s the targets (± %.2f), the same at all levels: encoder and decoder "+
			"place the levels %s apart, or the network is biased", math.Abs(e.Mean), side, e.StdErr,
			map[float64]string{0.5: "half a level", 1: "one level"}[math.Abs(l.Offset)])
	case "stretch", "line":
		t.Text = fmt.Sprintf("answers spread %.2g %% %s than the targets: encoder and decoder have different ranges, or "+
			"the network is trained too little",
			100*math.Abs(1/l.Slope-1), map[bool]string{true: "wider", false: "narrower"}[l.Slope < 1])
	}
	last := l.At(float64(s.Code.Levels()))
	ends := position.Range(l.At(1), last)
	if s.Input.Labels.Real {
		ends = position.Flag("range", fmt.Sprintf("%.4g:%.4g", label(l.At(1)), label(last)))
	}
	t.Mend = fmt.Sprintf("fit a decoder, or give %s if the encoder places levels so: by samples that took no part in this, "+
		"%s then", ends, t.less())
}

// predicted finds that predictions of direct regression are too large or too small by one amount,
// or by a factor where that gains much more: without it, samples that took no part in this have a
// smaller error. Predictions that were clipped say nothing of either.
func (s *search) predicted() *Finding {
	const gained = 0.01 // of the error
	lo, hi := s.ends()
	var half, all observed.Sums
	var sums observed.LineSums
	for i, v := range s.Own {
		if v <= lo || v >= hi {
			continue
		}
		if all.Add(v - s.Exact[i]); i%2 == 0 {
			half.Add(v - s.Exact[i])
			sums.Add(v, s.Exact[i])
		}
	}
	by, l := all.Error(), sums.Line()
	t, scaled := s.moved("bias", observed.Line{Offset: -half.Error().Mean, Slope: 1}), s.moved("stretch", l)
	gain := s.judge(&t)
	biased := gain > 1 && math.Abs(by.Mean) > sure*by.StdErr && t.Mended < (1-gained)*t.Error
	label, width := s.Input.Labels.Label, s.Input.Labels.Width()
	if s.gains(&scaled) && !(biased && scaled.Mended > (1-worthwhile)*t.Mended) {
		offset := label(scaled.At(1)) - l.Slope*label(1)
		factor, sign := table.Short(l.Slope), "add"
		if offset < 0 {
			sign = "subtract"
		}
		scaled.Text = fmt.Sprintf("the targets rise by %s where the predictions rise by 1: their units or ranges differ, or the "+
			"network is trained too little or too long", factor)
		scaled.Mend = fmt.Sprintf("multiply the predictions by %s, then %s %s: by samples that took no part in this, %s then",
			factor, sign, table.Short(math.Abs(offset)), scaled.less())
		return &scaled.Finding
	}
	if !biased {
		return nil
	}
	side, mend := "above", "subtract %s from the predictions"
	if by.Mean < 0 {
		side, mend = "below", "add %s to the predictions"
	}
	size := table.Short(width * math.Abs(by.Mean))
	t.Number = by.Mean
	t.Text = fmt.Sprintf("the predictions lie %s %s the targets on average (standard error %s)", size, side,
		table.Short(width*by.StdErr))
	t.Mend = fmt.Sprintf(mend, size) + ": by samples that took no part in this, " + t.less() + " then"
	return &t.Finding
}

// ends are the smallest and the largest prediction where many are alike, as if they were clipped;
// else there are none.
func (s *search) ends() (lo, hi float64) {
	const many = 0.03
	end := func(v, none float64) float64 {
		if n := floats.Count(func(x float64) bool { return x == v }, s.Own); float64(n) >= many*float64(s.Len()) {
			return v
		}
		return none
	}
	return end(slices.Min(s.Own), math.Inf(-1)), end(slices.Max(s.Own), math.Inf(1))
}

// circle finds that levels or predictions on a line are angles: round the range, or by the decoders of a circle, errors
// are far smaller, and not as small as chance makes them; or a few that are far over the range, both ways, are small.
// Both ends have targets: where one has few, a range may have clipped them.
func (s *search) circle() *trial {
	const far, end, times, few = 0.25, 1. / 8, 8, 3
	around := float64(s.Code.Levels() - 1)
	all := []trial{{Finding: Finding{Name: "circle", Number: around, Mend: "give " + position.Flag("circular", ""),
		Text: "the ends of the range are one point, as angles have them"}}}
	for _, e := range s.read.errors {
		all[0].errors = append(all[0].errors, min(e, max(around-e, 0)))
	}
	if c := s.Code.OnCircle(true); !s.predicts() && !c.Uneven() {
		of, err := observed.Decodings(s.Decoders, c, s.Kind, decode.Options{Temperature: 1})
		if err == nil && len(of) > 0 {
			all = append(all, s.with(all[0].Finding, c, of, nil))
		}
	}
	t, above, below, lost, first, last := least(all), 0, 0, 0, 0, 0
	for i, e := range t.errors {
		switch at := (s.Exact[i] - 1) / around; {
		case at < end:
			first++
		case at > 1-end:
			last++
		}
		switch as := s.read.errors[i]; {
		case e > far*around:
			lost++
		case as <= far*around || e > far*as:
		case s.read.answer[i] > s.Exact[i]:
			above++
		default:
			below++
		}
	}
	smaller := 0.5 // levels that are rolled by one are wrong one way
	if 4*min(above, below) > max(above, below) {
		smaller = 0.7
	}
	round := s.judge(t) > sure && t.Mended < smaller*t.Error && mean(t.errors, 1) < (1-2*worthwhile)*far*around
	over := min(above, below) >= few && above+below > few*lost && t.Mended < (1-worthwhile)*t.Error
	if times*min(first, last) < max(first, last) || !round && !over {
		return nil
	}
	return t
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
	f := found("clipped", clipped, fmt.Sprintf("the range clips %.3g %% of the targets: so many are the very smallest or "+
		"largest; they have %.3g %% of the error", 100*clipped, 100*cost/floats.Sum(s.read.errors)),
		"give the network a wider range, and train it again: what lies beyond the ends is in no error here")
	f.Error = s.Input.Labels.Width() * mean(s.read.errors, 1)
	return f
}
