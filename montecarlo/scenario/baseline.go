package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"belsim/theory/base/table"
)

// Baseline is an error that is no code's, to compare codes with.
type Baseline struct {
	Name   string  `json:"name" doc:"quantization alone: of a network that always finds the level nearest to the label; direct regression: of a network that predicts the label without a code, as it was given"`
	Error  float64 `json:"error" doc:"mean |error|"`
	Unit   string  `json:"unit" doc:"unit of error: levels or label units"`
	Levels int     `json:"levels,omitempty" doc:"number of levels of quantization alone; missing for direct regression"`
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
		return &ValueError{"baseline", direct, "a positive finite number"}
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
	var less, near, more []string
	for _, r := range rivals {
		switch x := b.Error; {
		case r.Hi < x:
			less = append(less, r.Name)
		case r.Lo > x:
			more = append(more, r.Name)
		default:
			near = append(near, r.Name)
		}
	}
	for _, group := range []struct {
		names     []string
		one, many string
	}{{less, "has less", "have less"}, {near, "is not told apart from it", "are not told apart from it"}, {more, "has more", "have more"}} {
		switch len(group.names) {
		case 0:
		case 1:
			text += fmt.Sprintf("; %s %s", group.names[0], group.one)
		default:
			text += fmt.Sprintf("; %s %s", listed(group.names), group.many)
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

// BaselineColumns hold the baselines in the CSV of codes, whose rows are codes alone.
type BaselineColumns struct {
	Quantization *float64 `json:"-" csv:"quantization" doc:"error of quantization alone, in levels; missing where true labels are levels"`
	Direct       *float64 `json:"-" csv:"direct_regression" doc:"error of direct regression, as it was given; missing without it"`
}

// quantizationOfUniform is the mean distance, in levels, of a label from the level nearest to it,
// where labels are uniform within half a level of each level: the mean of |u| for u in [−½, ½].
const quantizationOfUniform = 0.25

// AddBaselines adds quantization alone, where labels are continuous and it is not zero, and direct
// regression with an error in levels, unless that is zero.
func (c *Comparison) AddBaselines(direct float64) {
	quantization := 0.0
	if c.LabelKind == Continuous {
		quantization = quantizationOfUniform
	}
	c.Baselines = NewBaselines(quantization, direct, c.Levels, InLevels)
	for i := range c.Results {
		for j, b := range c.Baselines {
			if b.Name == DirectRegression {
				c.Results[i].Direct = &c.Baselines[j].Error
			} else {
				c.Results[i].Quantization = &c.Baselines[j].Error
			}
		}
	}
}

// rivals are the codes, each with its best decoder and training, and the intervals of their errors.
func (c *Comparison) rivals() []Rival {
	var out []Rival
	expected := map[string]float64{}
	for _, r := range c.Results {
		if r.Invalid != "" {
			continue
		}
		v, half := r.Best(), 1.96*r.stdErr()
		if r.Forecast != nil {
			v = *r.Forecast
		}
		at := slices.IndexFunc(out, func(x Rival) bool { return x.Name == r.Code })
		if at < 0 {
			at = len(out)
			out = append(out, Rival{Name: r.Code})
		} else if v >= expected[r.Code] {
			continue
		}
		expected[r.Code], out[at].Lo, out[at].Hi = v, v-half, v+half
	}
	return out
}

// Columns leaves out of the CSV what this comparison does not have.
func (c *Comparison) Columns() table.Option {
	has := func(of func(CodeResult) bool) bool { return slices.ContainsFunc(c.Results, of) }
	var missing []string
	for _, group := range []struct {
		there bool
		names []string
	}{
		{has(func(r CodeResult) bool { return r.Invalid != "" }), []string{"invalid"}},
		{has(func(r CodeResult) bool { return r.Forecast != nil }), []string{"training", "forecast"}},
		{has(func(r CodeResult) bool { return r.Quantization != nil }), []string{"quantization"}},
		{has(func(r CodeResult) bool { return r.Direct != nil }), []string{"direct_regression"}},
	} {
		if !group.there {
			missing = append(missing, group.names...)
		}
	}
	return table.Without(missing...)
}
