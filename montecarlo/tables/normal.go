package tables

import (
	_ "embed"
	"encoding/binary"
	"math"
)

// Standard normal numbers in fixed point, NormalOne to a standard deviation,
// made from uniform ones by operations that are the same on every processor and
// device.
//
// A draw of 32 bits is a sign and a probability p < ½; the number is the
// magnitude that is exceeded with probability p (the inverse of the normal
// distribution function). p is split as floating point splits a number: into its
// octave, [2^(−2−o), 2^(−1−o)), and where it lies there; on each octave the inverse
// is a polynomial (Normals) in single precision. It is within 2·10⁻⁶ of the true
// one. In the far tail, p < 2⁻¹⁷, 64 further bits of another stream continue p, so
// that the tail is as fine as the rest and ends at 9.2 standard deviations.
const (
	NormalFraction = 24
	NormalOne      = 1 << NormalFraction
	NormalOctaves  = 64
	NormalDegree   = 7
	NormalTail     = 1 << 15 // draws below it, sign left out, continue
)

// NormalTable holds the coefficients of the polynomials; NormalOne is one standard deviation.
// Element [k][o] is the coefficient of (m − 1.5)ᵏ on octave o, where p = m·2^(−2−o) and 1 ≤ m
// < 2.
type NormalTable [NormalDegree + 1][NormalOctaves]float32

// normalTable is Normals in a file: go test ./montecarlo/tables -run NormalTable -update writes it.
//
//go:embed normal_table.f32
var normalTable []byte

// Normals is the table of standard normal numbers. Do not write to it.
var Normals = func() (t NormalTable) {
	for k := range t {
		for o := range t[k] {
			at := 4 * (k*NormalOctaves + o)
			t[k][o] = math.Float32frombits(binary.LittleEndian.Uint32(normalTable[at:]))
		}
	}
	return t
}()

// Decay are the coefficients, the constant first, of the polynomial that is nearest to 2^−f on
// Chebyshev's points of [0, 1]: softmax weights are made with it. Do not write to it.
var Decay = [6]float32{
	0.9999999403953552, -0.6931431889533997, 0.24017949402332306, -0.055299606174230576,
	0.009210875257849693, -0.0009475536644458771,
}
