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
)

const (
	// near is the bias of sound networks, in levels, in a fifth of their answers: see misplaced. What is
	// misplaced by less than placed is right, and a fault is what a mend lessens by moved; a simpler mend may
	// be worse by simpler.
	near                              = 0.08
	placed, moved, movedFree, simpler = 25.0, 10.0, 14.0, 3.0
)

// line is target = offset + slope·answer.
type line struct{ offset, slope float64 }

func (l line) at(answer float64) float64 { return l.offset + l.slope*answer }

// codec finds that encoder and decoder place the levels differently: shifted by halves of a level, with
// edges for centres, or stretched from one end; or anything that gains much.
func (s *search) codec() *Finding {
	if s.Code.Uneven() {
		return nil
	}
	levels := float64(s.Code.Levels())
	w := 1 / levels // of edges, levels are levels·(1 − w) apart
	type shape struct {
		name, text string
		line
	}
	var shapes []shape
	for _, by := range []float64{-0.5, 0.5, -1, 1} {
		shapes = append(shapes, shape{"shift", "", line{by, 1}})
	}
	shapes = append(shapes, shape{"edges", "the levels are the centres of bins that fill the range, and are read " +
		"as if the first and the last one were its ends", line{0.5 + 0.5*w, 1 - w}},
		shape{"edges", "the first and the last level are the ends of the range, and are read as centres of bins that fill it",
			line{-0.5 * (levels + 1) / (levels - 1), levels / (levels - 1)}},
		shape{"stretch", "", s.from(levels)}, shape{"stretch", "", s.from(1)}, shape{"line", "", s.line()})
	var best *trial
	var of line
	var off observed.Sums
	for i, v := range s.read.answer {
		off.Add(v - s.Exact[i])
	}
	before, bias := s.misplaced(line{0, 1}), off.Error()
	least := before
	for _, x := range shapes {
		t := trial{Finding: Finding{Name: x.name, Text: x.text, Number: x.slope}}
		if t.Name == "shift" {
			t.Number = -x.offset
		}
		for _, v := range s.read.answer {
			t.answer = append(t.answer, x.at(v))
		}
		t.errors = s.off(t.answer)
		told, after, free := s.judge(&t) > sure, s.misplaced(x.line), t.Name == "stretch" || t.Name == "line"
		apart := math.Abs(bias.Mean+x.offset) < 2.5*near && after < before/4 // of shifts
		gains := (t.Name == "line" || t.Name == "shift" && apart) && told && t.Error-t.Mended > worthwhile*t.Error &&
			math.Abs(math.Log(x.slope)) < 0.3 && s.told(&t)
		by, most := moved, 1+same
		if free {
			by, most = movedFree, 1-same/3
		}
		explains := t.Name != "line" && after < placed && before-after > by && t.Mended < most*t.Error
		if !gains && !explains {
			continue
		}
		if best == nil || after < least && !free || after < least-simpler && t.Mended < 0.95*best.Mended {
			best, of, least = &t, x.line, after
		}
	}
	if best == nil {
		return nil
	}
	s.describe(best, of, bias)
	return &best.Finding
}

// from is the line of least squares of the half that chooses through an end of the levels.
func (s *search) from(end float64) line {
	xx, xy := 0.0, 0.0
	for i := 0; i < s.Len(); i += 2 {
		x := s.read.answer[i] - end
		xx, xy = xx+x*x, xy+x*(s.Exact[i]-end)
	}
	return line{end - end*xy/xx, xy / xx}
}

// line is that of least squares of the half that chooses.
func (s *search) line() line {
	var sums observed.LineSums
	for i := 0; i < s.Len(); i += 2 {
		sums.Add(s.read.answer[i], s.Exact[i])
	}
	l := sums.Line()
	return line{l.Offset, l.Slope}
}

// misplaced is how far the targets lie from a line of the answers: in each fifth of the answers the square of
// their mean distance, in units of what sound networks have and of its standard error, added up.
func (s *search) misplaced(l line) (sum float64) {
	rows := make([]int, s.Len())
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(s.read.answer[a], s.read.answer[b]) })
	const fifths = 5
	for k := range fifths {
		var rest observed.Sums
		for _, i := range rows[k*len(rows)/fifths : (k+1)*len(rows)/fifths] {
			rest.Add(s.Exact[i] - l.at(s.read.answer[i]))
		}
		e := rest.Error()
		sum += e.Mean * e.Mean / (near*near + e.StdErr*e.StdErr)
	}
	return sum
}

// describe writes the text and the mend.
func (s *search) describe(t *trial, l line, bias observed.Error) {
	label, e := s.Input.Labels.Label, bias
	side := "above"
	if e.Mean < 0 {
		side = "below"
	}
	switch t.Name {
	case "shift":
		t.Text = fmt.Sprintf("answers lie %.2f levels %s the targets (± %.2f), the same at all levels: encoder and decoder "+
			"place the levels %s apart, or the network is biased", math.Abs(e.Mean), side, e.StdErr,
			map[float64]string{0.5: "half a level", 1: "one level"}[math.Abs(l.offset)])
	case "stretch", "line":
		t.Text = fmt.Sprintf("targets change by %.3f of what answers do: encoder and decoder have different ranges", l.slope)
	}
	ends := position.Flag("range", fmt.Sprintf("%.4g:%.4g", label(l.at(1)), label(l.at(float64(s.Code.Levels())))))
	t.Mend = fmt.Sprintf("give %s, or fit a decoder: by samples that took no part in this, the error is %s then, and not %s",
		ends, table.Short(t.Mended), table.Short(t.Error))
}

// bias finds that predictions of direct regression are too large or too small by one amount, which is half of their
// error at least: without it a normal error is smaller by a tenth.
func (in Input) bias() *Finding {
	if !in.predicts() || in.Code.Circular() {
		return nil
	}
	off, all, width := in.Seen.Lines[0].Bias, in.Seen.Labels[0].Mean, in.Labels.Width()
	const rounding = 1e-9 // levels: predictions that are the targets but for rounding are not biased
	if by := math.Abs(off.Mean); !(by > max(all/2, rounding) && by > sure*off.StdErr) {
		return nil
	}
	size, mend := "large", "subtract %s from the predictions"
	if off.Mean < 0 {
		size, mend = "small", "add %s to the predictions"
	}
	by := table.Short(width * math.Abs(off.Mean))
	return found("bias", off.Mean, fmt.Sprintf("the predictions are too %s by %s on average (standard error %s)", size, by,
		table.Short(width*off.StdErr)), fmt.Sprintf(mend, by))
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
