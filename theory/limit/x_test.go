package limit

import (
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"belsim/theory/cost"
)

func kernel(levels int, r, sigma float64) (u []float64) {
	for d := range levels {
		z := (float64(d) + 0.5) / sigma
		u = append(u, r/(sigma*math.Sqrt(2*math.Pi))*math.Exp(-z*z/2))
	}
	return u
}

func TestX(t *testing.T) {
	for _, c := range [][5]float64{{64, 63, 1, .6, 1.5}, {64, 32, 2, .6, 1.5}, {64, 16, 11, .6, 1.5}, {64, 16, 0, .6, 1.5},
		{64, 12, 8, .6, 1.5}, {64, 10, 0, .6, 1.5}, {64, 6, 0, .6, 1.5}, {64, 63, 1, .6, 3}, {256, 255, 1, 2, 6}, {256, 128, 2, 2, 6},
		{256, 16, 16, 2, 6}, {256, 64, 8, 2, 6}, {256, 255, 1, 4, 12}, {256, 255, 1, 2, 3}, {256, 8, 0, 2, 6}} {
		p := Problem{Levels: int(c[0]), Bits: int(c[1]), Transitions: int(c[2]), Kernel: kernel(int(c[0]), c[3], c[4]), Cost: cost.Cost{}}
		if p.Transitions == 0 {
			p.Transitions = p.Levels - 1
		}
		t0 := cpu()
		v, err := byWindows(t.Context(), p)
		t1 := cpu()
		u, err2 := bySequences(t.Context(), p)
		fmt.Printf("%v: %.4f %v %v; %.4f %v %v\n", c, v, err, t1-t0, u, err2, cpu()-t1)
	}
}

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Round(time.Millisecond)
}
