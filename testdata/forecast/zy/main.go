package main

import (
	"context"
	"fmt"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func main() {
	ctx := context.Background()
	for _, s := range []float64{1.5, 4} {
		for _, name := range []string{"onehot", "unary", "hexj", "b1jdj"} {
			for _, tr := range []perceived.Training{perceived.CE} {
				c, _ := code.New(name, 64)
				prior := theory.Uniform(64)
				nodes, _ := perceived.NewNodes(16384, prior, 64, perceived.Seed)
				d1, _ := decode.Builtin().New("gen", c, decode.Options{})
				d2, _ := decode.Builtin().New("gen-ex", c, decode.Options{})
				ds := []observed.Decoding{{Decoder: d1, Soft: true}, {Decoder: d2, Soft: true}}
				for _, v := range [][3]float64{{1, .25, 1}, {1, .25, .7}, {1, .25, .5}, {1, .25, .3}} {
					perceived.ShareCE = v[2]; perceived.FactorCE = 1; m := perceived.Model{Noise: s, Misfit: v[1], Floor: .2, Training: tr, Cutoff: v[0] * perceived.DefaultCutoff(64, s)}
					n, err := m.Learn(ctx, 2, c, prior)
					if err != nil {
						panic(err)
					}
					e, err := nodes.Errors(ctx, 2, n, ds)
					if err != nil {
						panic(err)
					}
					sd := n.ResidualSD()
					z := make([]float64, c.Bits())
					n.Logits(z, 32.2)
					lo, hi := z[0], z[0]
					for _, x := range z {
						lo, hi = min(lo, x), max(hi, x)
					}
					fmt.Printf("s %g %s %s κ×%g η %g floor %g: gen %.3f gen-ex %.3f ratio to .798s %.3f; sd %.3g %.3g %.3g, range at 32 %.3g %.3g\n", s, name, tr, v[0], v[1], v[2], e[0], e[1], e[1]/.798/s, sd[0], sd[c.Bits()/4], sd[c.Bits()/2], lo, hi)
				}
			}
		}
	}
}
