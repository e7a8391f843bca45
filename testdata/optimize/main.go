// Command optimize searches for codes of as many bits as each of the codes of Shah,
// Xue and Aamodt (ICLR 2022) has, and prints what it finds beside them as Markdown:
//
//	go run ./testdata/optimize
//
// It runs belsim optimize, as a user would.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"

	"belsim/theory/code"
)

// result is what is read of belsim's JSON.
type result struct {
	Error     float64 `json:"error"`
	StdErr    float64 `json:"stderr"`
	Baselines []struct {
		Code   string   `json:"code"`
		Error  *float64 `json:"error"` // null where the code is invalid
		StdErr *float64 `json:"stderr"`
	} `json:"baselines"`
}

// gain is the error found, in so many samples, and how much it is below the code's, with its 95 %
// interval.
func (r result) gain(mean, stderr float64, samples int) string {
	if r.Error == 0 {
		return fmt.Sprintf("none in %d samples", samples)
	}
	ratio := r.Error / mean
	half := 196 * math.Hypot(r.StdErr/mean, ratio*stderr/mean)
	percent := 100 * (1 - ratio)
	return fmt.Sprintf("%.4g, %.1f %% (%.1f to %.1f)", r.Error, percent, percent-half, percent+half)
}

func main() {
	log.SetFlags(0)
	folder, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(folder)
	belsim := filepath.Join(folder, "belsim")
	build := exec.Command("go", "build", "-o", belsim, "./cmd/belsim")
	build.Stderr = os.Stderr
	check(build.Run())

	fmt.Println("| levels | r | σ | code | bits | its error | found: error, and how much less | found with no more transitions a bit than the code has |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, levels := range []int{64, 256} {
		steps, samples := 40000, 20000
		if levels == 256 {
			steps, samples = 2000, 2000
		}
		for _, at := range []struct{ r, sigma float64 }{{0.6, 1.5}, {0.5, 3}, {2, 10}} {
			for _, name := range []string{"b2jdj", "hexj", "b1jdj", "johnson", "unary", "hadamard"} {
				c, err := code.New(name, levels)
				check(err)
				properties, err := c.Properties(context.Background(), 0)
				check(err)
				search := func(limit int) result {
					args := []string{"optimize", "--levels", fmt.Sprint(levels), "--bits", fmt.Sprint(c.Bits()), "--r", fmt.Sprint(at.r), "--sigma", fmt.Sprint(at.sigma),
						"--steps", fmt.Sprint(steps), "--samples", fmt.Sprint(samples), "--backend", "cpu", "--json"}
					if limit > 0 {
						args = append(args, "--max-transitions", fmt.Sprint(limit))
					}
					command := exec.Command(belsim, args...)
					command.Stderr = os.Stderr
					text, err := command.Output()
					check(err)
					var r result
					check(json.Unmarshal(text, &r))
					return r
				}
				free, limited := search(0), search(properties.MaxTransitions)
				own, a, b := "invalid", fmt.Sprintf("%.4g", free.Error), fmt.Sprintf("%.4g", limited.Error)
				for _, k := range free.Baselines {
					if k.Code == name && k.Error != nil {
						own, a, b = fmt.Sprintf("%.4g ± %.1g", *k.Error, *k.StdErr), free.gain(*k.Error, *k.StdErr, levels*samples), limited.gain(*k.Error, *k.StdErr, levels*samples)
					}
				}
				fmt.Printf("| %d | %g | %g | %s | %d | %s | %s | %s (≤ %d) |\n", levels, at.r, at.sigma, name, c.Bits(), own, a, b, properties.MaxTransitions)
			}
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
