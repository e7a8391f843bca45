package assess

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
)

// TestErrorQuantiles: of 65 levels two share a row, and the last one stands alone; errors are in the
// unit of the targets.
func TestErrorQuantiles(t *testing.T) {
	n := seenNetwork(t, "unary", 65, nil, 0, 0)
	n.source.Labels = observed.Labels{Levels: 65, Real: true, Lo: 0, Hi: 256}
	n.decodings = []observed.Decoding{observed.Prediction()}
	spreads := make([]observed.Spread, 33)
	for i := range spreads {
		for range 100 {
			spreads[i].Add(0.5)
		}
	}
	n.seen.Spreads, n.seen.Labels = [][]observed.Spread{spreads}, make([]observed.Error, 1)
	got := errorQuantiles(n)
	all := Quantiles{2, 2, 2}
	must.Equal(t, "of all", all, got.Quantiles, cmpopts.EquateApprox(1e-9, 0))
	must.Equal(t, "the last rows", []LevelQuantiles{{63, 64, 100, all}, {65, 65, 100, all}}, got.Rows[31:],
		cmpopts.EquateApprox(1e-9, 0))
}
