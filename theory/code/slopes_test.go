package code_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/code"
)

// TestSlopes: the direction of the nearest transition, by hand.
func TestSlopes(t *testing.T) {
	c, err := code.FromMatrix("mine", mat.NewDense(5, 4, []float64{
		0, 0, 1, 1,
		0, 1, 0, 1,
		1, 1, 0, 1,
		1, 0, 1, 1,
		1, 0, 1, 0,
	}))
	if err != nil {
		t.Fatal(err)
	}
	s := c.Slopes()
	for i, want := range [][]int8{
		{1, 1, -1, -1},
		{1, 1, -1, -1},
		{1, -1, 1, -1},
		{1, -1, 1, -1},
		{1, -1, 1, -1},
	} {
		got := make([]int8, 4)
		if s.Row(got, i); !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	// Equally near transitions that are opposite, and none at all.
	c, err = code.FromMatrix("mine", mat.NewDense(3, 3, []float64{0, 1, 0, 1, 1, 0, 0, 1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int8, 3)
	if c.Slopes().Row(got, 1); !slices.Equal(got, []int8{0, 0, 1}) {
		t.Errorf("row 1: %v, want 0, 0, 1", got)
	}
}

// TestFromReal: targets are on either side of a column's middle; zeros and ones are
// the code they are.
func TestFromReal(t *testing.T) {
	values := mat.NewDense(3, 2, []float64{-2, 0.5, 0, 0.25, 4, -1})
	c, err := code.FromReal("mine", values)
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]bool{{false, true}, {false, true}, {true, false}}
	for i := range 3 {
		for k := range 2 {
			if c.Bit(i, k) != want[i][k] || c.Value(i, k) != values.At(i, k) || c.At(i, k) != values.At(i, k) {
				t.Errorf("entry %d, %d: target %v, value %v", i, k, c.Bit(i, k), c.Value(i, k))
			}
		}
	}
	if !c.Real() {
		t.Error("not a code of real numbers")
	}
	binary := mat.NewDense(3, 2, []float64{0, 1, 1, 1, 1, 0})
	a, err := code.FromReal("mine", binary)
	if err != nil {
		t.Fatal(err)
	}
	b, err := code.FromMatrix("mine", binary)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if a.Real() || !slices.Equal(a.Word(i), b.Word(i)) {
			t.Errorf("row %d: real %v, word %v, want %v", i, a.Real(), a.Word(i), b.Word(i))
		}
	}
}
