package lanes

import "belsim/montecarlo/tables"

// Mix sums up weights of prefixes and suffixes as tables.Product says: weight is
// Σ weights, sum is Σ weights·offsets. patterns is scratch, one for each pattern.
func Mix(weight, sum *Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	mix(weight, sum, prefixes, suffixes, patterns, p)
}

// mixGeneric is Mix in Go.
func mixGeneric(weight, sum *Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	var all Floats
	for s := range suffixes {
		for i, g := range suffixes[s] {
			all[i] += g
		}
	}
	q := len(suffixes)
	for n := range patterns {
		t := &patterns[n]
		*t = Floats{}
		for j, s := range p.Patterns[n*q : (n+1)*q] {
			for i, g := range suffixes[s] {
				t[i] += float32(g * float32(j))
			}
		}
	}
	*weight, *sum = Floats{}, Floats{}
	for n := range prefixes {
		t := &patterns[p.PatternOf[n]]
		for i, f := range prefixes[n] {
			weight[i] += f
			sum[i] += float32(f * (float32(p.Offsets[n]*all[i]) + t[i]))
		}
	}
	for i := range weight {
		weight[i] *= all[i]
	}
}
