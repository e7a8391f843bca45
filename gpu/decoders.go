//go:build linux && cgo

package gpu

// #include "kernel.h"
import "C"

import (
	"fmt"

	"belsim/montecarlo"
	"belsim/theory/decode"
)

// deviceDecoder is a decoder that kernel.cu has kernels for.
type deviceDecoder struct {
	name    string                      // in the names of its kernels
	is      func(d decode.Decoder) bool // reports whether it is this decoder
	bits    bool                        // there are kernels that place points: place_…
	logits  bool                        // there is a kernel that correlates logits, or bits: logits_…
	ordered bool                        // those that place points need the rows by their distances
	// describe sets what the kernels must know of the decoder; nil where there is
	// nothing.
	describe func(d decode.Decoder, l *C.bel_launch)
}

// deviceDecoders are all that kernel.cu decodes. Any other decoder is refused with
// errUnsupported.
var deviceDecoders = []deviceDecoder{
	{name: "bel_u", is: decode.Is[decode.BelU], bits: true},
	{name: "bel_j", is: decode.Is[decode.BelJ], bits: true, describe: func(d decode.Decoder, l *C.bel_launch) {
		j := d.(decode.BelJ)
		l.empty, l.corner = C.int(j.Empty()), C.int(j.At(1, 1))
	}},
	{name: "gen", is: decode.Is[decode.Gen], bits: true, logits: true, ordered: true},
	{name: "gen_ex", is: decode.Is[decode.GenEx], logits: true}, // its entries hold the temperature
}

// onDevice returns the entry of a decoder; without a name where there is none.
func onDevice(d decode.Decoder) deviceDecoder {
	for _, e := range deviceDecoders {
		if e.is(d) {
			return e
		}
	}
	return deviceDecoder{}
}

// placing is the kernel that decodes, after placing points or drawing logits.
type placing struct {
	name    string
	any     bool // takes any number of bits and needs marks
	ordered bool // needs the rows by their distances
}

// shortBits are the bits that fit the registers of a kernel.
var shortBits = []int{128, 256}

// kernelFor returns the kernel that decodes a problem's samples. The error wraps errUnsupported
// where there is none.
func kernelFor(p *montecarlo.Problem) (placing, error) {
	d := onDevice(p.Decoder)
	if decode.Is[decode.GenEx](p.Decoder) && p.Code.Circular() {
		return placing{}, fmt.Errorf("decoder %s on a circle is %w", p.Decoder.Name(), errUnsupported)
	}
	switch {
	case !points(p) && d.logits:
		return placing{name: "logits_" + d.name}, nil
	case !points(p) || !d.bits:
		return placing{}, fmt.Errorf("decoder %s of %s is %w", p.Decoder.Name(), p.Code.Name(), errUnsupported)
	}
	for _, n := range shortBits {
		if p.Code.Bits() <= n {
			return placing{fmt.Sprintf("place_%s_%d", d.name, n), false, d.ordered}, nil
		}
	}
	return placing{"place_" + d.name + "_any", true, d.ordered}, nil
}

// kernelNames lists the kernels of the module.
func kernelNames() []string {
	names := []string{"hazards", "tables", "deal"}
	for _, d := range deviceDecoders {
		if d.bits {
			for _, n := range shortBits {
				names = append(names, fmt.Sprintf("place_%s_%d", d.name, n))
			}
			names = append(names, "place_"+d.name+"_any")
		}
		if d.logits {
			names = append(names, "logits_"+d.name)
		}
	}
	return names
}
