//go:build !purego

package lanes

import (
	"belsim/montecarlo/internal/processor"
	"belsim/montecarlo/tables"
)

// mixAVX2 is Mix for p prefixes, q suffixes and n patterns, at least one of each.
//
//go:noescape
func mixAVX2(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n int)

// mixAVX512 is mixAVX2 with AVX-512.
//
//go:noescape
func mixAVX512(weight, sum, prefixes, suffixes, patterns *Floats, offsets *float32, patternOf, order *uint16, p, q, n int)

func mix(weight, sum *Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	f := mixAVX2
	switch {
	case !processor.AVX2():
		mixGeneric(weight, sum, prefixes, suffixes, patterns, p)
		return
	case processor.AVX512():
		f = mixAVX512
	}
	f(weight, sum, &prefixes[0], &suffixes[0], &patterns[0], &p.Offsets[0], &p.PatternOf[0], &p.Patterns[0], len(prefixes), len(suffixes), len(patterns))
}
