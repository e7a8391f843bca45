// Package decode turns the outputs of the binary classifiers back into a label:
// the decoding functions of Shah, Xue and Aamodt, "Label Encoding for
// Regression Networks" (ICLR 2022), Section 3.
//
// Decoders read hard decisions: a word of M bits, packed as code.Code.Word packs a
// code word. gen and gen-ex also read logits. A decoded label is a level,
// counted from 1; gen-ex's is a real number.
package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"belsim/theory/code"
)

// Decoder maps a word of M bits to a label. A Decoder is immutable and safe for
// concurrent use.
type Decoder interface {
	// Name is the decoder's name on the command line.
	Name() string
	// Decode returns the label of a packed word. bel-j's can lie outside
	// 1..L when the word is not a code word.
	Decode(word []uint64) int
	// Range returns the smallest and the largest label Decode can return.
	Range() (lo, hi int)
}

// ErrUnfit is wrapped by the error that New returns when a decoder does not fit
// the code.
var ErrUnfit = errors.New("decoder does not fit the code")

// Auto is the name that stands for the decoder the paper uses for a code.
const Auto = "auto"

// Names lists the decoders that New knows, Auto not included.
func Names() []string { return []string{"bel-u", "bel-j", "gen", "gen-ex"} }

// New returns the named decoder for a code. Auto takes bel-u where the code is
// unary, bel-j where it is a Johnson code, and gen elsewhere. What counts is
// the matrix: a file that holds the unary code is unary.
//
// gen-ex has the temperature 1; NewGenEx takes another.
//
// The error wraps ErrUnfit when the code is not one the decoder can read. Codes of
// real numbers are read by gen and gen-ex alone.
func New(name string, c *code.Code) (Decoder, error) {
	if c.Real() && (name == "bel-u" || name == "bel-j") {
		return nil, fmt.Errorf("%w: %s reads bits, and %s holds real numbers; use gen or gen-ex", ErrUnfit, name, c.Name())
	}
	switch name {
	case "bel-u":
		if d, ok := newBelU(c); ok {
			return d, nil
		}
		return nil, fmt.Errorf("%w: bel-u reads the unary code, and %s is not unary; use gen", ErrUnfit, c.Name())
	case "bel-j":
		if d, ok := newBelJ(c); ok {
			return d, nil
		}
		return nil, fmt.Errorf("%w: bel-j reads johnson and johnson-nonzero, and %s is neither; use gen", ErrUnfit, c.Name())
	case "gen":
		return newGen(c), nil
	case "gen-ex":
		return NewGenEx(c, 1)
	case Auto:
		if c.Real() {
			return newGen(c), nil
		}
		// A Johnson code of two levels on one bit is unary as well; its own
		// name decides.
		if strings.HasPrefix(c.Name(), "johnson") {
			if d, ok := newBelJ(c); ok {
				return d, nil
			}
		}
		if d, ok := newBelU(c); ok {
			return d, nil
		}
		if d, ok := newBelJ(c); ok {
			return d, nil
		}
		return newGen(c), nil
	}
	return nil, fmt.Errorf("unknown decoder %q: want %s or %s", name, strings.Join(Names(), ", "), Auto)
}

// ones sets word to the packed word whose bits lo ≤ k < hi, from 0, are one.
func ones(word []uint64, lo, hi int) {
	clear(word)
	for k := lo; k < hi; {
		n := min(64-k%64, hi-k)
		word[k/64] |= (1<<n - 1) << (k % 64)
		k += n
	}
}

// matches reports whether row i of c has ones exactly at lo(i) ≤ k < hi(i).
func matches(c *code.Code, run func(i int) (lo, hi int)) bool {
	want := make([]uint64, (c.Bits()+63)/64)
	for i := range c.Levels() {
		lo, hi := run(i)
		if lo < 0 || lo > hi || hi > c.Bits() {
			return false
		}
		ones(want, lo, hi)
		if !slices.Equal(want, c.Word(i)) {
			return false
		}
	}
	return true
}
