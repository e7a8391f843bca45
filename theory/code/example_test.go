package code_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/position"
	"belsim/theory/code"
)

// A named code: rows are levels, columns are bits.
func ExampleNew() {
	c, err := code.New("johnson", 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Levels(), "levels,", c.Bits(), "bits")
	fmt.Println(mat.Formatted(c))
	fmt.Println("bit 1 changes after level", c.Transitions()[0])
	// Output:
	// 8 levels, 4 bits
	// ⎡0  0  0  0⎤
	// ⎢0  0  0  1⎥
	// ⎢0  0  1  1⎥
	// ⎢0  1  1  1⎥
	// ⎢1  1  1  1⎥
	// ⎢1  1  1  0⎥
	// ⎢1  1  0  0⎥
	// ⎣1  0  0  0⎦
	// bit 1 changes after level [4]
}

// A code of one's own: any matrix of zeros and ones with distinct rows.
func ExampleFromMatrix() {
	c, err := code.FromMatrix("mine", mat.NewDense(4, 3, []float64{
		0, 0, 0,
		0, 1, 1,
		1, 1, 0,
		1, 0, 1,
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := c.Properties(context.Background(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("smallest distance of two words:", *p.MinDistance)
	fmt.Printf("transitions of a bit: %.3g on average, at most %d\n", p.TransitionsPerBit, p.MaxTransitions)
	_, err = code.FromMatrix("twice", mat.NewDense(3, 2, []float64{0, 1, 1, 1, 0, 1}))
	fmt.Println(position.Count(err.Error(), 1))
	// Output:
	// smallest distance of two words: 2
	// transitions of a bit: 2 on average, at most 3
	// twice: rows 1 and 3 are the same code word; every level needs its own
}
