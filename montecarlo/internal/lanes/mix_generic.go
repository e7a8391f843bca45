//go:build !amd64 || purego

package lanes

import "belsim/montecarlo/tables"

func mix(weight, sum *Floats, prefixes, suffixes, patterns []Floats, p *tables.Product) {
	mixGeneric(weight, sum, prefixes, suffixes, patterns, p)
}
