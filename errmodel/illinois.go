package errmodel

// bracket encloses the zero of a function for false position, in the Illinois variant. The
// function is negative at one end and positive at the other end.
//
// Each search interpolates by a formula of its own: equal formulas would round differently,
// and change the last digits of fits.
type bracket struct {
	below, fBelow float64 // an end, and the function there: negative or zero
	above, fAbove float64 // the other end, and the function there: positive
	moved         int     // −1 where the last step moved below, 1 where it moved above
}

// narrow puts x, where the function is v, in the place of one end. Where the same end has moved
// twice, the value at the other end counts half, so that this end moves soon, too.
func (b *bracket) narrow(x, v float64) {
	if v <= 0 {
		if b.below, b.fBelow = x, v; b.moved < 0 {
			b.fAbove /= 2
		}
		b.moved = -1
	} else {
		if b.above, b.fAbove = x, v; b.moved > 0 {
			b.fBelow /= 2
		}
		b.moved = 1
	}
}
