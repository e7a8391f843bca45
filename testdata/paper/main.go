// Command paper compares what the model says of codes and decoders with what Shah,
// Xue and Aamodt (ICLR 2022) measured on real networks, and prints the comparison
// as Markdown:
//
//	go run ./testdata/paper
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// point is one point of the model: a code with its decoder, and the values of the scenario.
type point struct {
	code, decoder string
	levels        int
	r, sigma      float64
	tau           float64 // of gen-ex; 0: 1
	levelLabels   bool    // labels that are levels
}

const samples = 20000 // of each label

// mean returns the mean |error| in levels and its standard error.
func (p point) mean() (mean, stderr float64) {
	ctx := context.Background()
	s := scenario.New(scenario.Mixture{R: p.r, Sigma: p.sigma})
	s.Outputs, s.Labels = scenario.Logits, scenario.Continuous
	if p.levelLabels {
		s.Labels = scenario.Levels
	}
	if p.tau > 0 {
		s.Temperature = p.tau
	}
	codes, err := scenario.OpenCodes([]string{p.code}, scenario.Sizes{Levels: p.levels})
	check(err)
	draw := scenario.Sampling{Samples: samples, Seed: 1}
	candidates, _, err := s.Candidates(ctx, codes, []string{p.decoder}, draw)
	check(err)
	weights, err := s.Weights(p.levels)
	check(err)
	c, err := s.Compare(ctx, scenario.Run{Backend: montecarlo.CPU{}}, candidates, weights, draw)
	check(err)
	return float64(c.Results[0].Mean), float64(c.Results[0].StdErr)
}

func (p point) String() string {
	m, se := p.mean()
	digits := 4
	if se > 2e-3 {
		digits = 3
	}
	return fmt.Sprintf("%.*f ± %.1g", digits, m, se)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	log.SetFlags(0)
	const levels, r, sigma = 256, 0.5, 3.0
	at := func(name, decoder string) point {
		return point{code: name, decoder: decoder, levels: levels, r: r, sigma: sigma}
	}
	out := os.Stdout
	fmt.Fprintf(out, "Simulated mean |error| in levels: %d levels, r = %g, σ = %g, logits, continuous labels, %d samples a label, seed 1, unless said otherwise.\n\n", levels, r, sigma, samples)

	fmt.Fprintln(out, "| question | paper, on real networks | model | agrees |\n| --- | --- | --- | --- |")
	agrees := map[bool]string{true: "yes", false: "**no**"}
	for _, decoder := range []string{"gen", "gen-ex"} {
		a, b := at("b1jdj", decoder), at("b1jdj-nr", decoder)
		a.tau, b.tau = 3, 3
		x, _ := a.mean()
		y, _ := b.mean()
		fmt.Fprintf(out, "| reflected B1JDJ beats the unreflected one? | 3.43 / 4.13 (COFW), 3.46 / 4.43 (300W), 4.43 / 5.70 (WFLW), 1.47 / 1.97 (AFLW): 17 to 25 %% less | %s: %v / %v: %.0f %% less | %s |\n",
			map[string]string{"gen": "gen", "gen-ex": "gen-ex, τ = 3"}[decoder], a, b, 100*(1-x/y), agrees[x < y])
	}
	{
		a, b := at("hadamard", "gen"), at("johnson", "gen")
		x, _ := a.mean()
		y, _ := b.mean()
		fmt.Fprintf(out, "| Hadamard far worse than Johnson? | about 60 %% more | `gen`: %v / %v: %+.0f %% | %s |\n", a, b, 100*(x/y-1), agrees[x > y])
	}
	for _, name := range []string{"unary", "johnson", "b1jdj", "hexj"} {
		gen := at(name, "gen")
		x, _ := gen.mean()
		var text, verdict []string
		for _, tau := range []float64{1, 3, 8} {
			ex := at(name, "gen-ex")
			ex.tau = tau
			y, _ := ex.mean()
			text = append(text, fmt.Sprintf("%v (τ = %g)", ex, tau))
			verdict = append(verdict, agrees[y <= x])
		}
		fmt.Fprintf(out, "| `gen-ex` at or below `gen`? | yes | %s: gen %v, gen-ex %s | %s |\n", name, gen, strings.Join(text, ", "), strings.Join(verdict, ", "))
	}
	{
		gen, ex := at("unary", "gen"), at("unary", "gen-ex")
		gen.levelLabels, ex.levelLabels, ex.tau = true, true, 3
		x, _ := gen.mean()
		y, _ := ex.mean()
		fmt.Fprintf(out, "| … and when labels are levels? | not asked | unary: gen %v, gen-ex %v (τ = 3) | – (%v) |\n", gen, ex, map[bool]string{true: "still", false: "not any more"}[y <= x])
	}
	for _, decoder := range []string{"gen", "gen-ex"} {
		var text []string
		var values []float64
		for _, l := range []int{64, 128, 256} {
			// The same profile in label units: r and σ are in levels, and grow
			// with their number.
			scale := float64(l) / levels
			s := point{code: "unary", decoder: decoder, levels: l, r: r * scale, sigma: sigma * scale, tau: 3}
			m, se := s.mean()
			values = append(values, m/float64(l-1))
			text = append(text, fmt.Sprintf("%.3f ± %.1g", 1000*m/float64(l-1), 1000*se/float64(l-1)))
		}
		paper := map[string]string{"gen": "3.66, 3.51, 3.46: −5 %%", "gen-ex": "3.46, 3.41, 3.44: −1 %%"}[decoder]
		fmt.Fprintf(out, "| 64, 128, 256 levels (unary, COFW), `%s` | "+paper+" | in 1/1000 of the range: %s | %s: %+.0f %% |\n",
			decoder, strings.Join(text, ", "), map[bool]string{true: "direction yes", false: "**no**"}[values[2] < values[0]], 100*(values[2]/values[0]-1))
	}

	fmt.Fprintf(out, "\nThe best code with `gen-ex` (τ = 3) and with `gen` changes with r and σ:\n\n")
	fmt.Fprintln(out, "| r | σ | `gen-ex`: best, then | `gen`: best, then |\n| --- | --- | --- | --- |")
	for _, p := range [][2]float64{{0.1, 1}, {0.5, 3}, {2, 10}, {5, 30}} {
		cell := func(decoder string) string {
			type result struct {
				name string
				mean float64
			}
			var all []result
			for _, name := range []string{"unary", "johnson", "b1jdj", "b2jdj", "hexj"} {
				s := point{code: name, decoder: decoder, levels: levels, r: p[0], sigma: p[1], tau: 3}
				c, err := code.New(name, levels)
				check(err)
				if profile, err := errmodel.NewProfile(context.Background(), levels, c.Transitions(), p[1]); err != nil || !profile.Valid(p[0]*1.05) {
					continue // this code has too many transitions for so large an r
				}
				m, _ := s.mean()
				all = append(all, result{name, m})
			}
			sort.Slice(all, func(i, j int) bool { return all[i].mean < all[j].mean })
			var text []string
			for _, a := range all {
				text = append(text, fmt.Sprintf("%s %.3g", a.name, a.mean))
			}
			return strings.Join(text, ", ")
		}
		fmt.Fprintf(out, "| %g | %g | %s | %s |\n", p[0], p[1], cell("gen-ex"), cell("gen"))
	}
}
