package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"belsim/montecarlo/scenario"
	"belsim/montecarlo/table"
	"belsim/theory/code"
	"belsim/theory/inputfile"
)

// maxFit is the largest size of the file of a fit, in bytes: 65,536 levels take 2 MiB.
const maxFit = 64 << 20

// Read reads a fit from its JSON file, and checks the numbers that others compute with. Errors
// name the file and the field.
func Read(path string) (*Fit, error) {
	if ending := strings.ToLower(filepath.Ext(path)); ending != ".json" {
		return nil, fmt.Errorf("%s: want the .json file of a fit", path)
	}
	raw, err := inputfile.Read(path, maxFit)
	if err != nil {
		return nil, fmt.Errorf("reading a fit: %w", err)
	}
	f := &Fit{R: table.Missing(), Sigma: table.Missing(), SharedNoise: table.Missing(), LogitScale: table.Missing(), path: path}
	err = json.Unmarshal(raw, f)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		err = fmt.Errorf("character %d: %w", syntax.Offset, err)
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// check refuses numbers that no fit has. It makes a prior add up to 1 that nearly does.
func (f *Fit) check() error {
	positive := func(n table.Number) bool { return n > 0 && !n.IsMissing() }
	switch {
	case !positive(f.R):
		return fmt.Errorf("r is %v; want a positive number, as 'belsim fit -o FILE.json' writes", float64(f.R))
	case !positive(f.Sigma):
		return fmt.Errorf("sigma is %v; want a positive number", float64(f.Sigma))
	case f.Levels < code.MinLevels || f.Levels > code.MaxLevels:
		return fmt.Errorf("levels is %d; want %d to %d", f.Levels, code.MinLevels, code.MaxLevels)
	case len(f.Prior) != f.Levels:
		return fmt.Errorf("prior has %d numbers for %d levels", len(f.Prior), f.Levels)
	case !f.LogitScale.IsMissing() && !positive(f.LogitScale):
		return fmt.Errorf("logit_scale is %v; want a positive number", float64(f.LogitScale))
	case len(f.PerBit) != 0 && len(f.PerBit) != f.Bits:
		return fmt.Errorf("per_bit has %d entries for %d bits", len(f.PerBit), f.Bits)
	}
	if !f.SharedNoise.IsMissing() {
		if err := scenario.CheckSharedNoise(float64(f.SharedNoise)); err != nil {
			return err
		}
	}
	if err := scenario.CheckTemperature(f.Temperature); err != nil {
		return err
	}
	if _, err := f.modelTemperature(); err != nil {
		return err
	}
	sum := 0.0
	for i, p := range f.Prior {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("prior of level %d is %v; want a number from 0 to 1", i+1, p)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the prior adds up to %v; want 1", sum)
	}
	if math.Abs(sum-1) > 1e-9 { // not rounded by belsim
		for i := range f.Prior {
			f.Prior[i] /= sum
		}
	}
	return nil
}

// modelTemperature is τ for the logits of the error model: their noise is 1, and the network's
// is LogitScale, so τ is as many times larger. It is NaN where there are no logits. The error
// says that it is no positive finite number.
func (f *Fit) modelTemperature() (float64, error) {
	if f.LogitScale.IsMissing() {
		return math.NaN(), nil
	}
	tau := float64(f.LogitScale) * f.Temperature
	if err := scenario.CheckTemperature(tau); err != nil {
		return 0, fmt.Errorf("temperature %g times logit_scale %g is %g; want a positive finite number", f.Temperature, float64(f.LogitScale), tau)
	}
	return tau, nil
}

// Fill makes the fit the error model and the prior of a scenario. It sets the shared noise and
// the temperature, too, where the fit knows them.
func (f *Fit) Fill(s *scenario.Scenario) {
	m := scenario.Mixture{R: float64(f.R), Sigma: float64(f.Sigma), Path: f.path, FitLevels: f.Levels}
	if len(f.PerBit) > 0 {
		m.PerBit = &scenario.PerBit{Code: f.Code, Levels: f.Levels}
		for _, b := range f.PerBit {
			m.PerBit.R, m.PerBit.Sigma = append(m.PerBit.R, float64(b.R)), append(m.PerBit.Sigma, float64(b.Sigma))
		}
	}
	s.Model, s.Prior.Fitted = m, f.Prior
	if !f.SharedNoise.IsMissing() {
		s.SharedNoise = float64(f.SharedNoise)
	}
	if tau, err := f.modelTemperature(); err == nil && !math.IsNaN(tau) {
		s.Temperature = tau
	}
}
