package tables_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/perceived"
	"belsim/montecarlo/tables"
)

// TestStrata: the strata are the means of a standard normal number over equally probable parts
// of its law, each of them once.
func TestStrata(t *testing.T) {
	seen := map[int]bool{}
	for j := range tables.Strata {
		got := tables.Stratum(j)
		at := int(math.Floor(distuv.UnitNormal.CDF(got) * tables.Strata))
		if seen[at] || at < 0 || at >= tables.Strata {
			t.Fatalf("part %d is in stratum %d, out of order or again", j, at)
		}
		seen[at] = true
		if want := perceived.Stratum(at); math.Abs(got-want) > 1e-14 {
			t.Errorf("part %d: %v, want %v", j, got, want)
		}
	}
	for j := range 8 { // the first 8 parts have one stratum of each eighth
		at := int(distuv.UnitNormal.CDF(tables.Stratum(j)) * 8)
		for i := range j {
			if int(distuv.UnitNormal.CDF(tables.Stratum(i))*8) == at {
				t.Errorf("parts %d and %d are in the same eighth of the law", i, j)
			}
		}
	}
}
