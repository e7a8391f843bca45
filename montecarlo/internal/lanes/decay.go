package lanes

import (
	"math"

	"belsim/montecarlo/tables"
)

// Decay is 2^−t for softmax weights, 0 ≤ t < 120, within 3·10⁻⁷ of it: 2^−n by the
// exponent, 2^−f by a polynomial on [0, 1). Single precision is enough for weights,
// and its operations, rounded one by one, are the same everywhere.
func Decay(t float32) float32 {
	n := int32(t)
	f := t - float32(n)
	p := tables.Decay[5]
	for i := 4; i >= 0; i-- {
		p = float32(p*f) + tables.Decay[i]
	}
	return math.Float32frombits(math.Float32bits(p) - uint32(n)<<23)
}

// narrow is a limit of correlations in 32 bits, which hold none that is larger.
func narrow(limit int64) int32 { return int32(min(limit, math.MaxInt32)) }
