package assess

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel"
	"belsim/errmodel/head"
	"belsim/errmodel/observed"
	"belsim/errmodel/scenario"
	"belsim/theory/base/inputfile"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Read reads a fit from its JSON file, and checks the numbers that others compute with. Errors
// name the file and the field.
func Read(path string) (*Fit, error) {
	const largest = 64 << 20 // of the file, in bytes: 65,536 levels take 2 MiB
	if ending := strings.ToLower(filepath.Ext(path)); ending != ".json" {
		return nil, fmt.Errorf("%s: want the .json file of a fit", path)
	}
	raw, err := inputfile.Read(path, largest)
	if err != nil {
		return nil, fmt.Errorf("%w; want the .json file of a fit", err)
	}
	f := &Fit{R: math.NaN(), Sigma: math.NaN(), LogitScale: math.NaN(), path: path}
	var of struct{ Format *int }
	switch err = json.Unmarshal(raw, &of); { // what is wrong with it is told by who reads all fields
	case err == nil && of.Format == nil:
		err = errors.New("there is no format; want the JSON of a fit: fit the network again with this version")
	case err == nil && *of.Format != fitFormat:
		err = fmt.Errorf("format %d of a fit is not known to this version; it knows %d", *of.Format, fitFormat)
	default:
		if err = table.ReadJSON(raw, f); errors.Is(err, table.ErrUnknownField) {
			err = fmt.Errorf("%w; a fit of another version has it: fit the network again with this version", err)
		} else if err != nil {
			err = fmt.Errorf("%w; want the JSON of a fit", err)
		} else {
			err = f.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// check refuses numbers that no fit has, and fields that contradict others.
func (f *Fit) check() error {
	if f.Levels < code.MinLevels || f.Levels > code.MaxLevels {
		return fmt.Errorf("levels is %d; want %d to %d", f.Levels, code.MinLevels, code.MaxLevels)
	}
	if of, known := code.Lookup(cmp.Or(head.Lookup(f.Code).Code, f.Code)); known && of.Bits(f.Levels) != f.Bits {
		return fmt.Errorf("bits is %d; %s of %d levels has %d", f.Bits, f.Code, f.Levels, of.Bits(f.Levels))
	}
	_, err := mixtureTemperature(f.LogitScale, f.Temperature)
	return cmp.Or(errmodel.Check(f.R, f.Sigma), decode.CheckTemperature(f.Temperature), err, f.checkWidth(),
		f.checkPrior())
}

// checkWidth refuses a range or a width that are not those of the levels. A width that was rounded
// is made exact.
func (f *Fit) checkWidth() error {
	of := observed.Labels{Levels: f.Levels, Real: f.Range != nil}
	if f.Range != nil {
		of.Lo, of.Hi = f.Range[0], f.Range[1]
		if err := (LabelRange{Lo: of.Lo, Hi: of.Hi}).check(); err != nil {
			return fmt.Errorf("range is %v: %w", *f.Range, err)
		}
	}
	if f.Circular {
		of.Circle = code.NewCircle(f.Levels)
	}
	if v := f.Values; v != nil {
		if err := v.Check(f.Levels); err != nil || of.Lo != v[0] || of.Hi != v[len(v)-1] || v.Even() {
			return errors.New("values are not those of uneven levels over the range")
		}
	}
	if width := of.Width(); !(math.Abs(f.LevelWidth/width-1) <= 1e-6) {
		return fmt.Errorf("level_width is %v; by range and levels it is %v", f.LevelWidth, width)
	}
	f.LevelWidth = of.Width()
	return nil
}

// written is an interval as a fit writes it: without ends where it is too wide to draw.
func written(value float64, interval [2]float64) [2]float64 {
	const widest = 1e6
	if interval[1] > value*widest {
		return unknown()
	}
	return interval
}

// checkPrior refuses numbers that are no prior. It makes one add up to 1 that nearly does.
func (f *Fit) checkPrior() error {
	if len(f.Prior) != f.Levels {
		return fmt.Errorf("prior has %d numbers for %d levels", len(f.Prior), f.Levels)
	}
	for i, p := range f.Prior {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("prior of level %s is %v; want a number from 0 to 1", position.At(i+1), p)
		}
	}
	sum := floats.Sum(f.Prior)
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the prior adds up to %v; want 1", sum)
	}
	if math.Abs(sum-1) > 1e-9 { // not rounded by belsim
		floats.Scale(1/sum, f.Prior)
	}
	return nil
}

// mixtureTemperature is τ for logits of the mixture. Their noise is 1, and that of the network's
// logits is scale: τ is multiplied by it. It is NaN where there are no logits. The error says that it is
// no positive finite number.
func mixtureTemperature(scale, temperature float64) (float64, error) {
	if table.Missing(scale) {
		return math.NaN(), nil
	}
	tau := scale * temperature
	if err := decode.CheckTemperature(tau); err != nil {
		return 0, fmt.Errorf("temperature %g times logit_scale %g is %g; want a positive finite number", temperature, scale,
			tau)
	}
	return tau, nil
}

// Fill makes the mixture of the fit, its prior and its temperature those of a scenario. The temperature
// of the mixture's logits is the fit's times the standard deviation of a logit; a fit of bits does not
// know it. That of bits is the fit's own.
func (f *Fit) Fill(s *scenario.Scenario) {
	s.Prior.Fitted, s.Prior.FitPath = f.Prior, f.path
	s.Model = scenario.Mixture{R: f.R, Sigma: f.Sigma, Path: f.path}
	if s.Outputs == decode.Bits {
		s.Temperature = f.Temperature
	} else if tau, err := mixtureTemperature(f.LogitScale, f.Temperature); err == nil && !math.IsNaN(tau) {
		s.Temperature = tau
	}
}
