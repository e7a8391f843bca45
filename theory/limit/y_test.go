package limit

import (
	"fmt"
	"math"
	"testing"
)

func TestY(t *testing.T) {
	for _, c := range [][5]float64{{64, 16, 63, .6, 1.5}, {64, 12, 8, .6, 1.5}, {64, 10, 63, .6, 1.5}, {64,32,2,.6,1.5}, {64,6,63,.6,1.5}} {
		p := Problem{Levels: int(c[0]), Bits: int(c[1]), Transitions: int(c[2]), Kernel: kernel(int(c[0]), c[3], c[4])}
		i := math.Inf(1)
		upper := []float64{1, i, i, i, i, i, i, i}
		for _, most := range []int{1 << 9} {
			w := newWindows(p, most)
			ss, _ := w.starts(t.Context())
			fmt.Println(most, w.span, len(w.masks))
			for _, s := range ss {
				for _, n := range []int{30, 60, 120} {
					c0 := cpu()
					v, _, _ := ascend(t.Context(), w.lagrangian, s, upper, n)
					fmt.Printf(" %.4f %v;", v, cpu()-c0)
				}
				fmt.Println()
			}
		}
	}
}
