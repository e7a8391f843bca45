package perceived

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestStrata: the strata are the means of a standard normal number over equally probable parts
// of its law, ascending, up to the roundings of the formula.
func TestStrata(t *testing.T) {
	density := func(j int) float64 {
		return distuv.UnitNormal.Prob(distuv.UnitNormal.Quantile(float64(j) / strata))
	}
	for j := range strata {
		if got, want := stratum(j), strata*(density(j)-density(j+1)); math.Abs(got-want) > 1e-13 {
			t.Errorf("part %d: %v, want %v", j, got, want)
		}
	}
}
