//go:build !amd64 || purego

package lanes

import "belsim/montecarlo/tables"

func run(sums []Ints, most, best *Ints, logits []Ints, p *tables.RunningSum) {
	runGeneric(sums, most, best, logits, p)
}
