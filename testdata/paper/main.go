// Command paper compares what the model says of codes and decoders with what Shah,
// Xue and Aamodt (ICLR 2022) measured on real networks, and prints the comparison
// as Markdown:
//
//	go run ./testdata/paper
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
)

// point is one point of the model: a code with its decoder, and the values of the scenario.
type point struct {
	code, decoder string
	tau           float64 // of gen-ex; 0: 1
	levels        int     // 0: 256
	r, sigma      float64 // 0: 0.5 and 3
	levelLabels   bool    // labels that are levels
}

// What a point has unless it says otherwise.
const levels, r, sigma = 256, 0.5, 3.0

const samples = 20000 // of each label

// result is the mean |error| of a point in levels, and its standard error.
type result struct {
	code         string
	mean, stderr float64
}

func (m result) String() string {
	digits := 4
	if m.stderr > 2e-3 {
		digits = 3
	}
	return fmt.Sprintf("%.*f ± %.1g", digits, m.mean, m.stderr)
}

// result samples a point. ok is false where r is too large for the code's transitions.
func (p point) result() (_ result, ok bool) {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: cmp.Or(p.r, r), Sigma: cmp.Or(p.sigma, sigma)})
	s.Outputs, s.Labels = scenario.Logits, scenario.Continuous
	if p.levelLabels {
		s.Labels = scenario.Levels
	}
	s.Temperature = cmp.Or(p.tau, 1)
	codes, err := scenario.OpenCodes([]string{p.code}, scenario.Sizes{Levels: cmp.Or(p.levels, levels)})
	check(err)
	draw := scenario.Sampling{Samples: samples, Seed: 1}
	candidates, err := s.Candidates(ctx, codes, []string{p.decoder}, draw)
	if scenario.Invalid(err) {
		return result{}, false
	}
	check(err)
	c, err := s.Compare(ctx, scenario.Run{Backend: montecarlo.CPU{}}, candidates, draw)
	check(err)
	return result{p.code, c.Results[0].Mean, c.Results[0].StdErr}, true
}

// must is the result of a point that has one.
func (p point) must() result {
	m, ok := p.result()
	if !ok {
		log.Fatalf("no result of %+v", p)
	}
	return m
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func agrees(yes bool) string {
	if yes {
		return "yes"
	}
	return "**no**"
}

func main() {
	log.SetFlags(0)
	fmt.Printf("Simulated mean |error| in levels: %d levels, r = %g, σ = %g, logits, continuous labels, %d samples a label, seed 1, unless said otherwise.\n\n", levels, r, sigma, samples)
	fmt.Println("| question | paper, on real networks | model | agrees |\n| --- | --- | --- | --- |")
	codes()
	decoders()
	numbers()
	fmt.Printf("\nThe best code with `gen-ex` (τ = 3) and with `gen` changes with r and σ:\n\n")
	fmt.Println("| r | σ | `gen-ex`: best, then | `gen`: best, then |\n| --- | --- | --- | --- |")
	for _, p := range [][2]float64{{0.1, 1}, {0.5, 3}, {2, 10}, {5, 30}} {
		fmt.Printf("| %g | %g | %s | %s |\n", p[0], p[1], ranking(p[0], p[1], "gen-ex"), ranking(p[0], p[1], "gen"))
	}
}

// codes compares codes with each other.
func codes() {
	for _, decoder := range []string{"gen", "gen-ex"} {
		a, b := point{code: "b1jdj", decoder: decoder, tau: 3}.must(), point{code: "b1jdj-nr", decoder: decoder, tau: 3}.must()
		if decoder == "gen-ex" {
			decoder += ", τ = 3"
		}
		fmt.Printf("| reflected B1JDJ beats the unreflected one? | 3.43 / 4.13 (COFW), 3.46 / 4.43 (300W), 4.43 / 5.70 (WFLW), 1.47 / 1.97 (AFLW): 17 to 25 %% less | %s: %v / %v: %.0f %% less | %s |\n",
			decoder, a, b, 100*(1-a.mean/b.mean), agrees(a.mean < b.mean))
	}
	a, b := point{code: "hadamard", decoder: "gen"}.must(), point{code: "johnson", decoder: "gen"}.must()
	fmt.Printf("| Hadamard far worse than Johnson? | about 60 %% more | `gen`: %v / %v: %+.0f %% | %s |\n", a, b, 100*(a.mean/b.mean-1), agrees(a.mean > b.mean))
}

// decoders compares gen-ex with gen.
func decoders() {
	for _, name := range []string{"unary", "johnson", "b1jdj", "hexj"} {
		gen := point{code: name, decoder: "gen"}.must()
		var text, verdict []string
		for _, tau := range []float64{1, 3, 8} {
			ex := point{code: name, decoder: "gen-ex", tau: tau}.must()
			text = append(text, fmt.Sprintf("%v (τ = %g)", ex, tau))
			verdict = append(verdict, agrees(ex.mean <= gen.mean))
		}
		fmt.Printf("| `gen-ex` at or below `gen`? | yes | %s: gen %v, gen-ex %s | %s |\n", name, gen, strings.Join(text, ", "), strings.Join(verdict, ", "))
	}
	gen, ex := point{code: "unary", decoder: "gen", levelLabels: true}.must(), point{code: "unary", decoder: "gen-ex", tau: 3, levelLabels: true}.must()
	verdict := "not any more"
	if ex.mean <= gen.mean {
		verdict = "still"
	}
	fmt.Printf("| … and when labels are levels? | not asked | unary: gen %v, gen-ex %v (τ = 3) | – (%s) |\n", gen, ex, verdict)
}

// numbers compares numbers of levels. The profile is the same in label units: r and σ are in levels, and
// grow with their number.
func numbers() {
	for _, decoder := range []string{"gen", "gen-ex"} {
		var text []string
		var values []float64
		for _, l := range []int{64, 128, 256} {
			scale := float64(l) / levels
			m := point{code: "unary", decoder: decoder, levels: l, r: r * scale, sigma: sigma * scale, tau: 3}.must()
			values = append(values, m.mean/float64(l-1))
			text = append(text, fmt.Sprintf("%.3f ± %.1g", 1000*m.mean/float64(l-1), 1000*m.stderr/float64(l-1)))
		}
		paper := map[string]string{"gen": "3.66, 3.51, 3.46: −5 %", "gen-ex": "3.46, 3.41, 3.44: −1 %"}[decoder]
		direction := agrees(values[2] < values[0])
		if direction == "yes" {
			direction = "direction yes"
		}
		fmt.Printf("| 64, 128, 256 levels (unary, COFW), `%s` | %s | in 1/1000 of the range: %s | %s: %+.0f %% |\n",
			decoder, paper, strings.Join(text, ", "), direction, 100*(values[2]/values[0]-1))
	}
}

// ranking lists codes, the best first, without those for which r is too large.
func ranking(r, sigma float64, decoder string) string {
	var all []result
	for _, name := range []string{"unary", "johnson", "b1jdj", "b2jdj", "hexj"} {
		if m, ok := (point{code: name, decoder: decoder, r: r, sigma: sigma, tau: 3}).result(); ok {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.mean, b.mean) })
	var text []string
	for _, m := range all {
		text = append(text, fmt.Sprintf("%s %.3g", m.code, m.mean))
	}
	return strings.Join(text, ", ")
}
