package errmodel

import (
	"fmt"
	"math"
	"strings"

	"belsim/theory/base/refuse"
	"belsim/theory/base/table"
)

// Baseline is an error that is no code's, to compare codes with.
type Baseline struct {
	// quantization alone (a network that always finds the nearest level), or direct regression, as
	// it was given
	Name string `json:"name"`
	// mean |error|
	Error float64 `json:"error"`
	// unit of error: levels or label units
	Unit string `json:"unit"`
	// number of levels of quantization alone; missing for direct regression
	Levels int `json:"levels,omitempty"`
}

// The names of baselines.
const (
	QuantizationAlone = "quantization alone"
	DirectRegression  = "direct regression"
)

// The units of baselines.
const (
	InLevels     = "levels"
	InLabelUnits = "label units"
)

// NewBaselines returns what is known: quantization alone, where it is not zero, and direct
// regression, unless its error is zero.
func NewBaselines(quantization, direct float64, levels int, unit string) []Baseline {
	out := []Baseline{}
	if quantization > 0 {
		out = append(out, Baseline{QuantizationAlone, quantization, unit, levels})
	}
	if direct > 0 {
		out = append(out, Baseline{Name: DirectRegression, Error: direct, Unit: unit})
	}
	return out
}

// CheckBaseline returns a *ValueError unless the error of direct regression is a positive finite
// number, or zero for none.
func CheckBaseline(direct float64) error {
	if !(direct >= 0) || math.IsInf(direct, 0) {
		return &refuse.Value{Name: "baseline", Value: direct, Want: "a positive finite number"}
	}
	return nil
}

// Rival is an error that is compared with a baseline: it lies between Lo and Hi.
type Rival struct {
	Name   string
	Lo, Hi float64
}

// Line is the baseline for people, and which errors are smaller than that of direct regression and
// which are larger: those whose whole intervals are.
func (b Baseline) Line(rivals []Rival) string {
	text := fmt.Sprintf("%s (no code): %s %s", b.Name, table.Short(b.Error), b.Unit)
	if b.Name != DirectRegression {
		return text
	}
	groups := []struct {
		names     []string
		one, many string
	}{{nil, "has less", "have less"}, {nil, "is not told apart from it", "are not told apart from it"}, {nil,
		"has more", "have more"}}
	for _, r := range rivals {
		at := 1
		if r.Hi < b.Error {
			at = 0
		} else if r.Lo > b.Error {
			at = 2
		}
		groups[at].names = append(groups[at].names, r.Name)
	}
	for _, g := range groups {
		switch len(g.names) {
		case 0:
		case 1:
			text += fmt.Sprintf("; %s %s", g.names[0], g.one)
		default:
			text += fmt.Sprintf("; %s %s", listed(g.names), g.many)
		}
	}
	return text
}

// listed joins names for a sentence, the first eight of them.
func listed(names []string) string {
	const most = 8
	last := names[len(names)-1]
	if more := len(names) - most; more > 1 {
		names, last = names[:most+1], fmt.Sprintf("%d others", more)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + last
}
