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
		Rows: []plots.CompareRow{
			{Name: "unary", Bound: 0.584, Exact: 0.441, Mean: 0.442, StdErr: 0.0005},
			{Name: "hadamard", Bound: 9.717, Exact: math.NaN(), Mean: 1.088, StdErr: 0.004}, // no exact value
		},
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
