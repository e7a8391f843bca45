package plots_test

import (
	"bytes"
	"fmt"
	"math"

	"belsim/plots"
)

// A figure is made of plain numbers and written in any format.
func ExampleCompare() {
	figure, err := plots.Compare(plots.CompareData{
		Title: "64 levels, r = 0.6, σ = 1.5",
		Names: []string{"unary", "hadamard"},
		Bound: []float64{0.584, 9.717}, Exact: []float64{0.441, math.NaN()}, // no exact value
		Mean: []float64{0.442, 1.088}, StdErr: []float64{0.0005, 0.004},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, format := range plots.Formats() {
		var file bytes.Buffer
		if err := figure.Write(&file, format); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(format, file.Len() > 1000)
	}
	// Output:
	// png true
	// svg true
	// pdf true
}
