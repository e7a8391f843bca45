// Package falseposition narrows an interval around the zero of a function by false position, in
// the Illinois variant.
package falseposition

// Bracket encloses the zero of a function, which is negative at one end and positive at the other.
//
// Each search interpolates by a formula of its own: equal formulas would round differently,
// and change the last digits of fits.
type Bracket struct {
	Below, FBelow float64 // an end, and the function there: negative or zero
	Above, FAbove float64 // the other end, and the function there: positive
	moved         int     // −1 where the last step moved Below, 1 where it moved Above
}

// Narrow puts x, where the function is v, in the place of one end. Where the same end has moved
// twice, the value at the other end counts half, so that this end moves soon, too.
func (b *Bracket) Narrow(x, v float64) {
	if v <= 0 {
		if b.Below, b.FBelow = x, v; b.moved < 0 {
			b.FAbove /= 2
		}
		b.moved = -1
	} else {
		if b.Above, b.FAbove = x, v; b.moved > 0 {
			b.FBelow /= 2
		}
		b.moved = 1
	}
}
