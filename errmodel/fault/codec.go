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
	// fewestLevel is the number of samples of a level that tell that its column is dead.
	fewestLevel = 20
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
	before := s.misplaced(line{0, 1})
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
		apart := math.Abs(s.bias().Mean+x.offset) < 2.5*near && after < before/4 // of shifts
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
	s.describe(best, of)
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

// bias is the mean of answer − target.
func (s *search) bias() observed.Error {
	var out observed.Sums
	for i, v := range s.read.answer {
		out.Add(v - s.Exact[i])
	}
	return out.Error()
}

// describe writes the text and the mend.
func (s *search) describe(t *trial, l line) {
	label, e := s.Input.Labels.Label, s.bias()
	side := "above"
	if e.Mean < 0 {
		side = "below"
	}
	switch t.Name {
	case "shift":
		t.Text = fmt.Sprintf("answers lie %.2f levels %s the targets (± %.2f), the same at all levels: encoder and decoder "+
			"place the levels %s apart", math.Abs(e.Mean), side, e.StdErr,
			map[float64]string{0.5: "half a level", 1: "one level"}[math.Abs(l.offset)])
	case "stretch", "line":
		t.Text = fmt.Sprintf("targets change by %.3f of what answers do: encoder and decoder have different ranges", l.slope)
	}
	t.Mend = fmt.Sprintf("give the range %.4g:%.4g, which reads them right: wrong by %s, for %s", label(l.at(1)),
		label(l.at(float64(s.Code.Levels()))), table.Short(t.Mended), table.Short(t.Error))
}

// clipped finds that the range clips targets: many lie at the very end of it, and few beside.
func (s *search) clipped() *Finding {
	if !s.Input.Labels.Real {
		return nil
	}
	// The share of an end above which it is no label that many samples have by chance, and over that of any
	// label between the ends.
	const many, over = 0.03, 1.5
	counts, inner := map[float64]int{}, 0
	for _, y := range s.Exact {
		counts[y]++
	}
	lo, hi := slices.Min(s.Exact), slices.Max(s.Exact)
	for y, n := range counts {
		if y != lo && y != hi {
			inner = max(inner, n)
		}
	}
	n, clipped, cost := float64(s.Len()), 0.0, 0.0
	for _, end := range []float64{lo, hi} {
		share := float64(counts[end]) / n
		if share < many || share*n < over*float64(inner) {
			continue
		}
		clipped += share
		for i, y := range s.Exact {
			if y == end {
				cost += s.read.errors[i]
			}
		}
	}
	if clipped == 0 {
		return nil
	}
	return &Finding{Name: "clipped", Number: clipped, Error: s.Input.Labels.Width() * mean(s.read.errors, 1),
		Mended: math.NaN(),
		Text: fmt.Sprintf("the range clips %.3g %% of the targets: so many are the very smallest or largest; they have "+
			"%.3g %% of the error", 100*clipped, 100*cost/floats.Sum(s.read.errors)),
		Mend: "give the network a wider range, and train it again: what lies beyond the ends is in no error here"}
}

// constant finds columns that say the same for all samples, though their level or bit occurs.
func (s *search) constant() *Finding {
	if s.Kind.Hard() || s.Seen.Same {
		return nil
	}
	var dead []int
	for k, of := range s.Seen.Columns(s.Code) {
		n := of.Samples[0] + of.Samples[1]
		mean, square := (of.Sum[0]+of.Sum[1])/n, of.Square/n
		if square-mean*mean <= 1e-8*max(square, 1e-12) && min(of.Samples[0], of.Samples[1]) >= fewestLevel {
			dead = append(dead, k+1)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	list := position.List(dead[:min(len(dead), 6)])
	if len(dead) > 6 {
		list += fmt.Sprintf(" and %d more", len(dead)-6)
	}
	return &Finding{Name: "dead", Number: float64(len(dead)), Error: math.NaN(), Mended: math.NaN(),
		Text: fmt.Sprintf("%d of %d columns are dead: %s say the same for all samples, though their targets differ",
			len(dead), s.Bits, list),
		Mend: "check the layer that makes these columns, and train it again"}
}
