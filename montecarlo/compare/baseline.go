package compare

import (
	"slices"

	"belsim/errmodel"
)

// AddBaseline adds direct regression with an error in levels, unless that is zero.
func (c *Ranking) AddBaseline(direct float64) {
	c.Baselines = errmodel.NewBaselines(0, direct, c.Levels, errmodel.InLevels)
	for i := range c.Results {
		c.Results[i].Direct = direct
	}
}

// rivals are the codes, each with its best decoder, and the intervals of their errors.
func (c *Ranking) rivals() []errmodel.Rival {
	var out []errmodel.Rival
	expected := map[string]float64{}
	for _, r := range c.Results {
		if r.Invalid != "" {
			continue
		}
		v, stderr := r.best()
		at := slices.IndexFunc(out, func(x errmodel.Rival) bool { return x.Name == r.Code })
		if at < 0 {
			at = len(out)
			out = append(out, errmodel.Rival{})
		} else if v >= expected[r.Code] {
			continue
		}
		half := errmodel.Errors95 * stderr
		expected[r.Code], out[at] = v, errmodel.Rival{Name: r.Code, Lo: max(0, v-half), Hi: v + half}
	}
	return out
}

// Missing are the columns of what this comparison does not have.
func (c *Ranking) Missing() (missing []string) {
	leave := func(there func(Result) bool, names ...string) {
		if !c.has(there) {
			missing = append(missing, names...)
		}
	}
	leave(Result.isInvalid, "invalid")
	leave(func(r Result) bool { return r.Direct > 0 }, "direct_regression")
	return missing
}
