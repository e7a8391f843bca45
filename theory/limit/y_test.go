package limit

import (
	"fmt"

	"testing"
)

func TestY(t *testing.T) {
	for _, c := range [][5]float64{{256, 255, 1, 2, 6}, {64, 63, 1, .6, 3}, {64, 32, 2, .6, 1.5}, {64, 12, 8, .6, 1.5}} {
		p := Problem{Levels: int(c[0]), Bits: int(c[1]), Transitions: int(c[2]), Kernel: kernel(int(c[0]), c[3], c[4])}
		XP = true
		fmt.Println(bySequences(t.Context(), p))
	}
}
