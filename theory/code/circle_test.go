package code_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestSeam: a column has a transition at the seam where its last and its first entry differ, and the
// properties count it. Johnson of an even number of levels is the same code wherever a circle begins.
func TestSeam(t *testing.T) {
	line := must.Get(code.New("johnson", 6))(t)
	c := line.OnCircle()
	if got := c.Transitions(); !slices.EqualFunc(got, [][]int{{3, 6}, {2, 5}, {1, 4}}, slices.Equal) {
		t.Errorf("transitions %v", got)
	}
	if line.TransitionCount() != 5 || c.TransitionCount() != 6 || c.TransitionsPerBit() != 2 {
		t.Errorf("%d transitions on a line and %d on a circle, want 5 and 6", line.TransitionCount(), c.TransitionCount())
	}
	p, q := must.Get(c.Properties(t.Context(), 1))(t), must.Get(line.Properties(t.Context(), 1))(t)
	if p.TransitionsPerBit != 2 || p.MaxTransitions != 2 || math.Abs(*p.Correlation-1) > 1e-12 || *q.Correlation > 0.9 {
		t.Errorf("properties %+v; the distances of the words are those of the levels on the circle", p)
	}
	two := must.Get(code.New("unary", 2))(t).OnCircle()
	if got := two.Transitions(); !slices.Equal(got[0], []int{1, 2}) {
		t.Errorf("two levels: transitions %v, want both ways", got)
	}
}

// TestCircle compares the mean direction and the median of distributions with sums over all levels.
func TestCircle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		levels := 2 + rng.IntN(9)
		c, w := code.NewCircle(levels), make([]float64, levels)
		for i := range w {
			w[i] = float64(rng.IntN(6)) // ties are exact
		}
		w[rng.IntN(levels)]++
		best, least := 0, math.Inf(1)
		x, y := 0.0, 0.0
		for m := range w {
			off, angle := 0.0, 2*math.Pi*float64(m)/float64(levels)
			for i, p := range w {
				off += p * math.Abs(c.Between(float64(m+1), float64(i+1)))
			}
			if off < least {
				best, least = m, off
			}
			x, y = x+w[m]*math.Cos(angle), y+w[m]*math.Sin(angle)
		}
		if got := c.Median(w, 1e-9); got != best {
			t.Errorf("median of %v is row %d, want %d", w, got, best)
		}
		want := 1 + math.Mod(math.Atan2(y, x)/(2*math.Pi)+1, 1)*float64(levels)
		if math.Hypot(x, y) < 1e-9 {
			want = 1
		}
		if got := c.Mean(w); math.Abs(c.Between(got, want)) > 1e-9 || got < 1 || got >= float64(levels+1) {
			t.Errorf("mean of %v is %v, want %v", w, got, want)
		}
	}
	c := code.NewCircle(10)
	for place, want := range map[float64]float64{1: 1, 11: 1, 0.75: 10.75, -9.5: 10.5, 10.99: 10.99, 1 - 1e-16: 1} {
		if got := c.Wrap(place); got != want {
			t.Errorf("place %v is %v, want %v", place, got, want)
		}
	}
	if up, down, half := c.Between(9, 2), c.Between(2, 9), c.Between(8, 3); up != 3 || down != -3 || half != 5 {
		t.Errorf("ways %v, %v and %v, want 3, -3 and 5", up, down, half)
	}
	if !math.IsNaN(c.Wrap(math.NaN())) || !math.IsNaN(c.Mean([]float64{math.NaN(), 9: 0})) {
		t.Error("NaN has a place")
	}
}
