package assess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel/fault"
	"belsim/errmodel/head"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// mended follows a finding: the options of its arguments, or what its mend does to the samples. ok
// is false where the mend is to give other numbers, which no one has.
func (n *faultyNetwork) mended(t *testing.T, f fault.Finding) (o Options, ok bool) {
	logit := func(p float64) float64 { return math.Log(max(p, 1e-30)) - math.Log(max(1-p, 1e-30)) }
	all := func(change func(v float64) float64) {
		n.each(func(z []float64) {
			for k, v := range z {
				z[k] = change(v)
			}
		})
	}
	switch columns := strings.Contains(f.Text, "columns stand"); f.Name {
	case "reversed", "inverted":
		if n.of.IsZero() {
			n.of = LabelRange{Lo: 1, Hi: float64(n.levels)}
		}
		switch {
		case columns:
			n.each(slices.Reverse[[]float64])
		case f.Name == "inverted":
			n.each(func(z []float64) { floats.Scale(-1, z) })
		default:
			for i, y := range n.y {
				n.y[i] = n.of.Lo + n.of.Hi - y
			}
		}
	case "permuted":
		n.each(func(z []float64) {
			old := slices.Clone(z)
			for k, from := range f.Order {
				z[k] = old[from-1]
			}
		})
	case "percent":
		all(func(v float64) float64 { return v / 100 })
	case "logarithms":
		n.kind = "probabilities:"
		all(math.Exp)
	case "sigmoid":
		all(logit)
	case "sigmoid-twice":
		n.kind = "probabilities:"
		all(logit)
	default:
		ok = len(f.Arguments) > 0
		o = n.options(t)
		for i := 0; i < len(f.Arguments); i += 2 {
			value := ""
			if i+1 < len(f.Arguments) {
				value = f.Arguments[i+1]
			}
			switch f.Arguments[i] {
			case "--range":
				must.Succeed(t, o.Range.UnmarshalText([]byte(value)))
			case "--circular":
				o.Circular = true
			case "--code":
				o.Code = value
			case "--levels":
				must.Get(fmt.Sscan(value, &o.Levels))(t)
			case "--temperature":
				must.Get(fmt.Sscan(value, &o.Temperature))(t)
			case "--outputs":
				o.Outputs = "probabilities:" + o.Outputs[strings.Index(o.Outputs, "/"):]
			case "--fit-decoder":
				o.FitDecoder, i = true, i-1
			}
		}
		return o, ok
	}
	return n.options(t), true
}

// errorOf is the error of the best decoder, in the unit of the labels, and the finding that is next.
func errorOf(t *testing.T, o Options) (e float64, next *fault.Finding, refused error) {
	r, err := Run(t.Context(), o, 1, nil)
	if err != nil {
		return 0, nil, err
	}
	for i := range r.Fit.Findings {
		if x := &r.Fit.Findings[i]; x.Helps() {
			next = x
			break
		}
	}
	if f := r.Fit.Fitted; f != nil {
		return f.Error, next, nil
	}
	return r.Fit.Decoders[bestDecoder(r.Fit.Decoders)].Observed, next, nil
}

// halves are the samples of even and of odd numbers.
func (n *faultyNetwork) halves() (out [2]*faultyNetwork) {
	for h := range out {
		x := *n
		x.y, x.z = nil, nil
		for i := h; i < len(n.y); i += 2 {
			x.y, x.z = append(x.y, n.y[i]), append(x.z, slices.Clone(n.z[i]))
		}
		out[h] = &x
	}
	return out
}

// moreFaults are those beside faults that TestFollow puts into networks, by the names of the
// findings that tell them.
var moreFaults = []struct {
	oneFault
	names []string
}{
	{oneFault{"reversed labels", func(n *faultyNetwork) []string {
		for i, y := range n.y {
			n.y[i] = n.of.Lo + n.of.Hi - y
		}
		return nil
	}}, []string{"reversed"}},
	{oneFault{"labels / 10", func(n *faultyNetwork) []string {
		lo, hi := n.of.Lo, n.of.Hi
		if lo < 0 || lo > hi/10 { // the range holds no such labels
			n.y = nil
		}
		floats.Scale(0.1, n.y)
		n.within()
		return nil
	}}, []string{"unit"}},
	{oneFault{"unary as softmax", func(n *faultyNetwork) []string {
		if n.code != "unary" {
			n.y = nil
		}
		n.code, n.levels = "softmax", 31
		return nil
	}}, []string{"code"}},
}

// drawnHead is an HL-Gauss head of 16 levels that sees labels with noise, and gives its targets for
// what it sees.
func drawnHead(name string, seed uint64, noise func(r *rand.Rand) float64) *faultyNetwork {
	n := &faultyNetwork{name: name, code: "hl-gauss", levels: 16, of: LabelRange{Lo: 0, Hi: 15}, rng: rand.New(rand.NewPCG(seed, 9))}
	for range 800 {
		y, z := 15*n.rng.Float64(), make([]float64, n.levels)
		seen := min(max(y+noise(n.rng), 0), 15)
		for k := range z {
			d := (float64(k) - seen) / head.SoftSigma
			z[k] = -d * d / 2
		}
		n.y, n.z = append(n.y, y), append(n.z, z)
	}
	return n
}

// TestFollow: the mend of what is next, which half of the samples chose, makes the error of the
// other half no larger, by two standard errors of theirs; sound networks have none. Without
// BELSIM_LONG there are few networks.
func TestFollow(t *testing.T) {
	networks, seeds, draws := faultyNetworks[:1], 1, 1
	if os.Getenv("BELSIM_LONG") != "" {
		networks, seeds, draws = faultyNetworks, 3, 12
	}
	followed, worse, fits, alarms, named, cases, drawn, told := 0, 0, 0, 0, 0, 0, 0, 0
	follow := func(what string, n *faultyNetwork) *fault.Finding {
		of := n.halves()
		_, next, refused := errorOf(t, of[0].options(t))
		fits++
		if refused != nil || next == nil {
			return next
		}
		before, _, err := errorOf(t, of[1].options(t))
		if err != nil {
			return next
		}
		o, ok := of[1].mended(t, *next)
		if !ok {
			return next
		}
		after, again, err := errorOf(t, o)
		followed++
		if err != nil || after-before > 2*next.StdErr {
			worse++
			t.Logf("%s, %s: %v for %v after %q; %v", what, n.name, after, before, next.Text+next.Mend, err)
		}
		if again != nil && again.Name == next.Name && !slices.Contains(next.Arguments, "--fit-decoder") {
			t.Logf("%s, %s: again %q after %q", what, n.name, again.Text, next.Text)
		}
		return next
	}
	for seed := range draws {
		for name, noise := range map[string]func(r *rand.Rand) float64{
			"perfect": func(*rand.Rand) float64 { return 0 }, "nearly perfect": func(r *rand.Rand) float64 { return 0.15 * r.NormFloat64() },
			"heavy tails": func(r *rand.Rand) float64 { return r.NormFloat64() / max(math.Abs(r.NormFloat64()), 0.05) },
			"bimodal":     func(r *rand.Rand) float64 { return 3*float64(2*r.IntN(2)-1) + 0.3*r.NormFloat64() },
			"skewed":      func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 },
			"useless":     func(r *rand.Rand) float64 { return 40 * r.NormFloat64() },
		} {
			n := drawnHead(name, uint64(seed), noise)
			drawn++
			if next := follow("drawn", n); next != nil {
				told++
				t.Logf("drawn, %s: %q, %q: %v to %v ± %v", n.name, next.Text, next.Mend, next.Error, next.Mended, next.StdErr)
			}
		}
	}
	for seed := range seeds {
		for i, x := range networks {
			n := x.load(t, 1500, uint64(100*seed+i))
			n.within()
			if next := follow("sound", n); next != nil {
				alarms++
				t.Logf("sound, %s: %q", n.name, next.Text)
			}
			for _, f := range faults {
				n := x.load(t, 1500, uint64(100*seed+i))
				if f.put(n) != nil {
					follow(f.name, n)
				}
			}
			for _, f := range moreFaults {
				n := x.load(t, 1500, uint64(100*seed+i))
				n.within()
				if f.put(n); len(n.y) < 400 {
					continue
				}
				cases++
				if next := follow(f.name, n); next != nil && slices.Contains(f.names, next.Name) {
					named++
				} else {
					t.Logf("%s, %s: %+v", f.name, n.name, next)
				}
			}
		}
	}
	t.Logf("%d fits: %d mends followed, %d make the error larger; %d of %d sound networks have one; %d of %d further faults named; "+
		"%d of %d drawn ones have one", fits, followed, worse, alarms, len(networks)*seeds, named, cases, told, drawn)
	if float64(worse) > 0.02*float64(followed) || float64(alarms) > 0.02*float64(len(networks)*seeds) || float64(named) < 0.9*float64(cases) {
		t.Error("mends do not help, or are of sound networks, or other faults are named")
	}
}

// TestCircleFaults: angles that are turned, mirrored, half angles or radians are told as that, with
// the range that is right, and right ones have no finding.
func TestCircleFaults(t *testing.T) {
	const levels, samples = 36, 600
	c := must.Get(code.New("johnson", levels))(t).OnCircle(true)
	for _, tt := range []struct {
		name string
		of   func(y float64) float64 // the label of an angle in degrees
		want string
	}{
		{"right", func(y float64) float64 { return y }, ""}, {"turned by 90", func(y float64) float64 { return y + 90 }, "offset"},
		{"turned by 180", func(y float64) float64 { return y - 180 }, "offset"},
		{"turned by 10", func(y float64) float64 { return y + 10 }, "offset"}, {"mirrored", func(y float64) float64 { return -y }, "mirror"},
		{"atan2(x, y)", func(y float64) float64 { return 90 - y }, "mirror"}, {"half", func(y float64) float64 { return y / 2 }, "unit"},
		{"twice", func(y float64) float64 { return 2 * y }, "unit"}, {"radians", func(y float64) float64 { return y * math.Pi / 180 }, "unit"},
	} {
		rng := rand.New(rand.NewPCG(1, 5))
		n := &faultyNetwork{name: tt.name, code: "johnson", levels: levels, training: head.BCE, of: LabelRange{Lo: 0, Hi: 360}, rng: rng}
		for range samples {
			y := 360 * rng.Float64()
			seen, z := y/10+1+0.7*rng.NormFloat64(), make([]float64, c.Bits())
			for k := range z {
				sum := [2]float64{1e-9, 1e-9}
				for i := range levels {
					d, bit := c.Circle().Between(seen, float64(i+1)), 0
					if c.Bit(i, k) {
						bit = 1
					}
					sum[bit] += math.Exp(-d * d)
				}
				z[k] = math.Log(sum[1] / sum[0])
			}
			n.y, n.z = append(n.y, tt.of(y)), append(n.z, z)
		}
		of := n.halves()
		o, promised := of[0].options(t), 0.0
		o.Circular = true
		_, next, err := errorOf(t, o)
		must.Succeed(t, err)
		if got := ""; next != nil {
			got, promised = next.Name, next.Mended
			if same(t, tt.name, tt.want, got); got == "mirror" {
				continue
			}
			o, _ = of[1].mended(t, *next)
			o.Circular = true
			e, _, err := errorOf(t, o)
			if err != nil || math.Abs(e-promised) > 6*next.StdErr+0.05*promised {
				t.Errorf("%s: %v, promised %v; %v; %q", tt.name, e, promised, err, next.Text+": "+next.Mend)
			}
		} else {
			same(t, tt.name, tt.want, got)
		}
	}
}
