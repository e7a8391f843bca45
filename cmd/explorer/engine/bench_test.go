package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkViews measures what the page asks for at a move of r, each question anew; "first" are
// the quick answers that it shows at once.
func BenchmarkViews(b *testing.B) {
	for _, levels := range []int{64, 256} {
		for _, name := range []string{"johnson", "unary", "b1jdj", "hexj", "hadamard", "gray", "onehot"} {
			e, s := New(""), scene(levels)
			for _, view := range []string{"errors", "theory-first", "theory", "samples", "row-first", "row"} {
				method, quick := strings.CutSuffix(view, "-first")
				b.Run(fmt.Sprintf("%s/%s/%d", view, name, levels), func(b *testing.B) {
					for i := range b.N {
						s.R = 0.6 + 1e-6*float64(i)
						q, _ := json.Marshal(struct {
							Subject
							Samples  uint64 `json:"samples"`
							From, To int
							Quick    bool `json:"quick"`
						}{Subject{Scene: s, Code: Code{Name: name}, Decoder: "gen"}, 20, 0, levels, quick})
						if _, err := e.call(context.Background(), method, q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
