package tables_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// TestRest: any number of last samples has as many parts, spread over the level, and each part as
// often as any other: by χ² at 1e−9 over random words.
func TestRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const words = 4096
	for n := range decode.Strata {
		var seen [decode.Strata]float64
		for range words {
			parts := tables.Rest(n, rng.Uint64())
			if bits.OnesCount64(parts) != n {
				t.Fatalf("%d samples have the parts %064b", n, parts)
			}
			for half := 0; half < decode.Strata; half += decode.Strata / 8 { // an eighth has n/8 of them, up or down
				in := bits.OnesCount64(parts >> half & (1<<(decode.Strata/8) - 1))
				if in < n/8 || in > (n+7)/8 {
					t.Fatalf("%d samples: %d in the eighth from part %d", n, in, half)
				}
			}
			for j := range seen {
				seen[j] += float64(parts >> j & 1)
			}
		}
		if n == 0 {
			continue
		}
		square, want, p := 0.0, float64(words*n)/decode.Strata, float64(n)/decode.Strata
		for _, v := range seen {
			square += (v - want) * (v - want) / (want * (1 - p))
		}
		if limit := (distuv.ChiSquared{K: decode.Strata - 1}).Quantile(1 - 1e-9); square > 1.1*limit {
			t.Errorf("%d samples: χ² = %v of the parts, limit %v", n, square, limit)
		}
	}
}
