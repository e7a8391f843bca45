package montecarlo

import (
	"math/bits"

	"belsim/montecarlo/tables"
)

// deal gives each of n samples its number of points and calls group once for
// each number that occurs. The counts follow the multinomial law exactly (to
// the 64 bits of a share): each class takes a binomial part of the samples that
// are left.
func deal(classes []tables.Class, n int, r *bitReader, group func(points, samples int) error) error {
	for i, class := range classes {
		if n == 0 {
			return nil
		}
		taken := n
		if i+1 < len(classes) {
			taken = binomial(n, class.Share, r)
		}
		n -= taken
		if taken > 0 {
			if err := group(class.Points, taken); err != nil {
				return err
			}
		}
	}
	return nil
}

// binomial draws from Binomial(n, p/2⁶⁴), by integer operations alone.
//
// Think of n uniform numbers, all compared with p digit by digit from the top,
// one fair bit each a digit. A number whose bit differs from p's is decided: it
// is below p where p's bit is 1 and above where it is 0. Those with an equal
// bit, about half, go on to the next digit; who is equal to the end is not
// below p. Only how many differ matters, not which: so n fair bits are words of
// the generator and their sum a population count, and about 2n bits are used in
// all, whatever p.
func binomial(n int, p uint64, r *bitReader) int {
	below := 0
	for ; n > 0 && p != 0; p <<= 1 {
		ones := 0
		left := n
		for ; left >= 64; left -= 64 {
			ones += bits.OnesCount64(r.word())
		}
		if left > 0 {
			ones += bits.OnesCount64(r.word() << (64 - left))
		}
		if p>>63 == 1 {
			below += n - ones
			n = ones
		} else {
			n -= ones
		}
	}
	return below
}
