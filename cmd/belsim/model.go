package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/plots"
	"belsim/theory/code"
)

// fitFlag takes the error model from a fit.
type fitFlag struct {
	Model string  `placeholder:"FILE" help:"Take r, σ, prior, shared noise and temperature from what 'belsim fit -o FILE.json' wrote; --prior, --shared-noise and --temperature win over it."`
	fit   *fitted // nil without --model
}

// load reads the file, if there is one, and sets what the command line does not.
func (f *fitFlag) load(env *environment, latent *latentFlags) error {
	if f.Model == "" {
		return nil
	}
	var err error
	if f.fit, err = readFit(f.Model); err != nil {
		return err
	}
	if rho := float64(f.fit.SharedNoise); !env.given["shared-noise"] && !math.IsNaN(rho) {
		latent.SharedNoise = rho
	}
	if scale := float64(f.fit.LogitScale); !env.given["temperature"] && !math.IsNaN(scale) {
		latent.Temperature = scale * f.fit.Temperature
	}
	return nil
}

// load is fitFlag's; it also sets r and σ.
func (f *mixtureFlags) load(env *environment, latent *latentFlags) error {
	if f.Model == "" {
		return nil
	}
	for _, name := range []string{"r", "sigma", "errors", "transitions"} {
		if env.given[name] {
			return fmt.Errorf("--model and --%s both give error probabilities; want one of them", name)
		}
	}
	if err := f.fitFlag.load(env, latent); err != nil {
		return err
	}
	f.R, f.Sigma = float64(f.fit.R), float64(f.fit.Sigma)
	return nil
}

// readFit reads a fit and checks what others compute with.
func readFit(path string) (*fitted, error) {
	if ending := strings.ToLower(filepath.Ext(path)); ending != ".json" {
		return nil, fmt.Errorf("--model %s: want the .json file of a fit", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--model: %w", err)
	}
	f := &fitted{R: none, Sigma: none, SharedNoise: none, LogitScale: none, path: path}
	if err := json.Unmarshal(raw, f); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s: character %d: %w", path, syntax.Offset, err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	positive := func(n number) bool { return n > 0 && !math.IsInf(float64(n), 0) }
	switch {
	case !positive(f.R):
		return nil, fmt.Errorf("%s: r is %v; want a positive number, as 'belsim fit -o FILE.json' writes", path, float64(f.R))
	case !positive(f.Sigma):
		return nil, fmt.Errorf("%s: sigma is %v; want a positive number", path, float64(f.Sigma))
	case f.Levels < code.MinLevels || f.Levels > code.MaxLevels:
		return nil, fmt.Errorf("%s: levels is %d; want %d to %d", path, f.Levels, code.MinLevels, code.MaxLevels)
	case len(f.Prior) != f.Levels:
		return nil, fmt.Errorf("%s: prior has %d numbers for %d levels", path, len(f.Prior), f.Levels)
	case f.SharedNoise < 0 || f.SharedNoise > 1:
		return nil, fmt.Errorf("%s: shared_noise is %v; want a number from 0 to 1", path, float64(f.SharedNoise))
	case !(f.Temperature > 0) || math.IsInf(f.Temperature, 0):
		return nil, fmt.Errorf("%s: temperature is %v; want a positive number", path, f.Temperature)
	case !math.IsNaN(float64(f.LogitScale)) && !positive(f.LogitScale):
		return nil, fmt.Errorf("%s: logit_scale is %v; want a positive number", path, float64(f.LogitScale))
	case len(f.PerBit) != 0 && len(f.PerBit) != f.Bits:
		return nil, fmt.Errorf("%s: per_bit has %d entries for %d bits", path, len(f.PerBit), f.Bits)
	}
	sum := 0.0
	for i, p := range f.Prior {
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("%s: prior of level %d is %v; want a number from 0 to 1", path, i+1, p)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("%s: the prior adds up to %v; want 1", path, sum)
	}
	return f, nil
}

// usual is the number of levels of the fit, else another.
func (f *fitted) usual(otherwise int) int {
	if f == nil {
		return otherwise
	}
	return f.Levels
}

// perBit reports whether the fit has an r and σ for each bit of this very code.
func (f *fitted) perBit(c *code.Code) bool {
	return f != nil && len(f.PerBit) > 0 && c.Name() == f.Code && c.Levels() == f.Levels && c.Bits() == f.Bits
}

// table is e[n,k] with every bit's own r and σ; bits without one never err.
func (f *fitted) table(positions [][]int) (*mat.Dense, error) {
	bits := make([][]errmodel.Transition, len(positions))
	for k, b := range f.PerBit {
		if math.IsNaN(float64(b.R)) || math.IsNaN(float64(b.Sigma)) {
			continue
		}
		bits[k] = errmodel.Transitions(positions[k], float64(b.R), float64(b.Sigma))
	}
	e, err := errmodel.Table(f.Levels, bits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return e, nil
}

// mark is the fit as a point of a map. An interval without an end reaches to the
// edge.
func (f *fitted) mark() *plots.Mark {
	m := &plots.Mark{X: float64(f.R), Y: float64(f.Sigma), XHi: math.Inf(1), YHi: math.Inf(1)}
	set := func(dst *float64, n number) {
		if !math.IsNaN(float64(n)) {
			*dst = float64(n)
		}
	}
	set(&m.XLo, f.RInterval[0])
	set(&m.XHi, f.RInterval[1])
	set(&m.YLo, f.SigmaInterval[0])
	set(&m.YHi, f.SigmaInterval[1])
	return m
}
