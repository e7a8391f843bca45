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
	f := &Fit{Levels: 65, LevelWidth: 4, Decoders: []DecoderRow{{Network: 1, Observed: 1}}}
	spreads := make([]observed.Spread, 33)
	for i := range spreads {
		for range 100 {
			spreads[i].Add(0.5)
		}
	}
	got := errorQuantiles(f, &network{seen: &observed.Summary{Spreads: [][]observed.Spread{spreads}}})
	all := Quantiles{2, 2, 2}
	must.Equal(t, "of all", all, got.Quantiles, cmpopts.EquateApprox(1e-9, 0))
	must.Equal(t, "the last rows", []LevelQuantiles{{63, 64, 100, all}, {65, 65, 100, all}}, got.Rows[31:],
		cmpopts.EquateApprox(1e-9, 0))
}
