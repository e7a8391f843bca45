package errmodel

import (
	"fmt"
	"strings"

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

// Rival is an error that is compared with a baseline: it lies between Lo and Hi.
type Rival struct {
	Name   string
	Lo, Hi float64
}

// Line is direct regression for people, and which errors are smaller and which are larger: those whose
// whole intervals are.
func (b Baseline) Line(rivals []Rival) string {
	text := fmt.Sprintf("%s (no code): %s %s", b.Name, table.Short(b.Error), b.Unit)
	for at, verbs := range [][2]string{{"has less", "have less"}, {"is not told apart from it",
		"are not told apart from it"}, {"has more", "have more"}} {
		var names []string
		for _, r := range rivals {
			if less, more := r.Hi < b.Error, r.Lo > b.Error; at == 0 && less || at == 2 && more || at == 1 && !less && !more {
				names = append(names, r.Name)
			}
		}
		if last := len(names) - 1; last == 0 {
			text += fmt.Sprintf("; %s %s", names[0], verbs[0])
		} else if last > 0 {
			text += fmt.Sprintf("; %s and %s %s", strings.Join(names[:last], ", "), names[last], verbs[1])
		}
	}
	return text
}
