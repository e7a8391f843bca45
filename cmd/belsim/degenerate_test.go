package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// degenerate are the targets and the outputs of a code of 8 levels, and whether fit judges them.
func degenerate(t *testing.T, name string, change func(y, z *mat.Dense)) (targets, outputs string) {
	c, rng := must.Get(code.New(name, 8))(t), rand.New(rand.NewPCG(1, 1))
	y, z := mat.NewDense(160, 1, nil), mat.NewDense(160, c.Bits(), nil)
	for i := range 160 {
		y.Set(i, 0, float64(1+i%8))
		for k := range c.Bits() {
			z.Set(i, k, 4*c.Value(i%8, k)-2+2*rng.NormFloat64())
		}
	}
	change(y, z)
	rows, _ := y.Dims()
	return save(t, fmt.Sprintf("%s-%d-y.csv", name, rows), y), save(t, fmt.Sprintf("%s-%d-z.csv", name, rows), z)
}

// degenerates are ways in which a network says nothing, or all.
func degenerates(c *code.Code) map[string]func(y, z *mat.Dense) {
	words := func(scale float64) func(y, z *mat.Dense) {
		return func(y, z *mat.Dense) {
			z.Apply(func(i, k int, _ float64) float64 { return scale * (2*c.Value(int(y.At(i, 0))-1, k) - 1) }, z)
		}
	}
	to := func(v float64, of func(y, z *mat.Dense) *mat.Dense) func(y, z *mat.Dense) {
		return func(y, z *mat.Dense) {
			of(y, z).Apply(func(int, int, float64) float64 { return v }, of(y, z))
		}
	}
	return map[string]func(y, z *mat.Dense){
		"no wrong bit": words(3), "all wrong": words(-3), "bits": words(1),
		"one level":        to(3, func(y, _ *mat.Dense) *mat.Dense { return y }),
		"constant outputs": to(0.5, func(_, z *mat.Dense) *mat.Dense { return z }),
		"zeros":            to(0, func(_, z *mat.Dense) *mat.Dense { return z }),
		"two samples": func(y, z *mat.Dense) {
			*y, *z = *mat.DenseCopyOf(y.Slice(0, 2, 0, 1)), *mat.DenseCopyOf(z.Slice(0, 2, 0, c.Bits()))
		},
		"a wrong constant": func(y, z *mat.Dense) {
			words(3)(y, z)
			z.Set(0, 0, -z.At(0, 0))
		},
	}
}

// TestDegenerate: fit and decode end with a word where a network says nothing, or all, and no
// picture has a number that is none.
func TestDegenerate(t *testing.T) {
	t.Chdir(t.TempDir())
	none := regexp.MustCompile(`NaN|[+-]?Inf\b`)
	for _, name := range []string{"unary", "johnson", "hadamard"} {
		for what, change := range degenerates(must.Get(code.New(name, 8))(t)) {
			y, z := degenerate(t, name, change)
			for _, circle := range map[bool][][]string{true: {nil, {"--circular"}}, false: {nil}}[name == "johnson"] {
				fit := append([]string{"fit", "--code", name, "--levels", "8", "--targets", y, "--outputs", z, "-o", "f.html"}, circle...)
				status, out, said := run(t, fit...)
				if status != 0 && (status != 2 || strings.Count(said, "\n") != 1) {
					t.Errorf("%s, %s %v: %d %q", name, what, circle, status, said)
				}
				if status == 0 {
					for _, text := range []string{out, content(t, "f.html")} {
						if i := none.FindStringIndex(text); i != nil {
							t.Errorf("%s, %s %v: %q", name, what, circle, text[max(0, i[0]-200):min(len(text), i[1]+40)])
						}
					}
				}
				for _, decoder := range []string{"gen-ex"} {
					status, _, said = run(t, append([]string{"decode", "--decoder", decoder, "--code", name, "--levels", "8", "--outputs", z, "-o",
						"d.csv"}, circle...)...)
					if status != 0 && status != 2 || status == 2 && strings.Count(said, "\n") != 1 {
						t.Errorf("decode %s, %s %v: %d %q", name, what, circle, status, said)
					}
				}
			}
		}
	}
}

// TestRefused: a refusal in any stage of fit, beside others, is told each time, on one processor
// and on eight.
func TestRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	of := degenerates(must.Get(code.New("hadamard", 8))(t))
	for what, change := range map[string]func(y, z *mat.Dense){
		"one level":            of["one level"],
		"a level that is none": func(y, _ *mat.Dense) { y.Set(159, 0, 9) },
		"a large number":       func(_, z *mat.Dense) { z.Set(159, 3, 1e300) },
		"rows that are counted": func(_, z *mat.Dense) {
			z.Apply(func(i, k int, v float64) float64 {
				if k == 0 {
					return float64(i)
				}
				return v
			}, z)
		},
	} {
		y, z := degenerate(t, "hadamard", change)
		first := ""
		for _, processors := range []int{1, 8} {
			before := runtime.GOMAXPROCS(processors)
			for range 30 {
				status, _, said := run(t, "fit", "--code", "hadamard", "--levels", "8", "--targets", y, "--outputs", z)
				if first == "" {
					first = said
				}
				if status != 2 || said != first || !strings.Contains(said, ".csv: ") {
					t.Errorf("%s, %d processors: %d %q, first %q", what, processors, status, said, first)
				}
			}
			runtime.GOMAXPROCS(before)
		}
	}
}
