package decode_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/theory/decode"
)

// TestStrata: the strata are the means of a standard normal number over equally probable parts
// of its law, ascending, up to the roundings of the formula.
func TestStrata(t *testing.T) {
	density := func(j int) float64 {
		return distuv.UnitNormal.Prob(distuv.UnitNormal.Quantile(float64(j) / decode.Strata))
	}
	for j := range decode.Strata {
		if got, want := decode.Stratum(j), decode.Strata*(density(j)-density(j+1)); math.Abs(got-want) > 1e-13 {
			t.Errorf("part %d: %v, want %v", j, got, want)
		}
	}
}
