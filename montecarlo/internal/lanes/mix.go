package lanes

import (
	"belsim/montecarlo/tables"
	"belsim/theory/base/processor"
)

// mix sums up weights of prefixes and suffixes as tables.Product says: weight is
// Σ weights, sum is Σ weights·offsets. patterns is scratch, one for each pattern. Rows are stride
// apart.
func mix(weight, sum *Floats, prefixes, suffixes, patterns []Floats, stride int, p *tables.Product) {
	if !processor.Vectors {
		mixGeneric(weight, sum, prefixes, suffixes, patterns, stride, p)
		return
	}
	n, q := len(p.PatternOf), (len(suffixes)+stride-1)/stride
	mixVector(weight, sum, &prefixes[0], &suffixes[0], &patterns[0], &p.Offsets[0], &p.PatternOf[0], &p.Patterns[0], n,
		q, len(p.Patterns)/q, rowBytes*stride)
}

// mixGeneric is mix in Go.
func mixGeneric(weight, sum *Floats, prefixes, suffixes, patterns []Floats, stride int, p *tables.Product) {
	var all Floats
	for s := 0; s < len(suffixes); s += stride {
		for i, g := range suffixes[s] {
			all[i] += g
		}
	}
	q := (len(suffixes) + stride - 1) / stride
	for n := range len(p.Patterns) / q {
		t := &patterns[n*stride]
		*t = Floats{}
		for j, s := range p.Patterns[n*q : (n+1)*q] {
			for i, g := range suffixes[int(s)*stride] {
				t[i] += float32(g * float32(j))
			}
		}
	}
	*weight, *sum = Floats{}, Floats{}
	for n, pattern := range p.PatternOf {
		t := &patterns[int(pattern)*stride]
		for i, f := range prefixes[n*stride] {
			weight[i] += f
			sum[i] += float32(f * (float32(p.Offsets[n]*all[i]) + t[i]))
		}
	}
	for i := range weight {
		weight[i] *= all[i]
	}
}
