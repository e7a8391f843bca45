package assess

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/decode"
)

// TestCountedOtherwise: targets that count levels from another number than the network's, of which
// none is of the last level, are told by what the answers are nearer to. Those that miss the last
// level alone are not.
func TestCountedOtherwise(t *testing.T) {
	for _, tt := range []struct {
		least, most, shift int
		want               string
	}{{2, 8, -1, "none is of level 8"}, {1, 7, 1, "none is of level 1"}, {1, 7, 0, ""}, {2, 8, 0, ""}} {
		var y, z strings.Builder
		for i := range 200 {
			level := tt.least + i%(tt.most-tt.least+1)
			fmt.Fprintln(&y, level+tt.shift)
			for k := range 7 {
				fmt.Fprintf(&z, "%s%.2f", strings.Repeat(",", min(k, 1)), float64(level-k)-1.5+0.3*float64(i%5-2))
			}
			z.WriteByte('\n')
		}
		dir := t.TempDir()
		o := Options{Code: "unary", Targets: filepath.Join(dir, "y.csv"), Outputs: filepath.Join(dir, "z.csv"),
			Temperature: 1, Decoders: decode.Builtin()}
		must.Succeed(t, os.WriteFile(o.Targets, []byte("y\n"+y.String()), 0o600))
		must.Succeed(t, os.WriteFile(o.Outputs, []byte("a,b,c,d,e,f,g\n"+z.String()), 0o600))
		n := must.Get(openNetwork(t.Context(), o))(t)
		defer n.Close()
		must.Succeed(t, n.read(t.Context(), 1, nil))
		if what, next := n.countedOtherwise(); tt.want == "" != (what == "") || !strings.Contains(position.Count(what, 1), tt.want) {
			t.Errorf("%+v: %q, %q", tt, what, next)
		}
	}
}
