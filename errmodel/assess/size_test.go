package assess

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"belsim/theory/base/arrayfile"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// BenchmarkSoftmax fits heads of many levels, and of many samples.
func BenchmarkSoftmax(b *testing.B) {
	for _, of := range [][2]int{{256, 2000}, {1024, 2000}, {4096, 10000}, {64, 1000000}} {
		b.Run(fmt.Sprintf("%dx%d", of[0], of[1]), func(b *testing.B) {
			o := softmaxFiles(b, of[0], of[1])
			for b.Loop() {
				must.Get(Run(b.Context(), o, 0, nil))(b)
			}
		})
	}
}

// softmaxFiles are those of a head that knows the target with normal noise.
func softmaxFiles(b *testing.B, levels, samples int) Options {
	rng, dir, sigma := rand.New(rand.NewPCG(1, 2)), b.TempDir(), float64(levels)/20
	write := func(name string, columns int) (string, func([]float64)) {
		file := must.Get(os.Create(filepath.Join(dir, name)))(b)
		out := bufio.NewWriter(file)
		rows := must.Get(arrayfile.NewNPYRows(out, samples, columns))(b)
		b.Cleanup(func() { must.Succeed(b, file.Close()) })
		return file.Name(), func(row []float64) {
			must.Succeed(b, rows.Write(row))
			must.Succeed(b, out.Flush())
		}
	}
	targets, target := write("y.npy", 1)
	outputs, output := write("z.npy", levels)
	z := make([]float64, levels)
	for range samples {
		y := 1 + rng.Float64()*float64(levels-1)
		target([]float64{y})
		at := y + sigma*rng.NormFloat64()
		for n := range z {
			off := (float64(n+1) - at) / sigma
			z[n] = -off*off/2 + 0.3*rng.NormFloat64()
		}
		output(z)
	}
	return Options{Code: "softmax", Range: LabelRange{Lo: 1, Hi: float64(levels)}, Temperature: 1,
		Targets: targets, Outputs: outputs, Decoders: decode.Builtin()}
}
