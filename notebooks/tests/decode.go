//go:build ignore

// Decode prints what every decoder of the paper that fits a code makes of outputs, for tests of the
// Python package: decode CODE.npy OUTPUTS.npy bits|logits TEMPERATURE. A line is the decoder's name
// and a level, from 1, for each sample.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"

	"belsim/theory/base/arrayfile"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func main() {
	c, err := code.OpenReal(os.Args[1], 0)
	check(err)
	z, err := arrayfile.ReadFile(os.Args[2])
	check(err)
	tau, err := strconv.ParseFloat(os.Args[4], 64)
	check(err)
	samples, _ := z.Dims()
	for _, name := range []string{"bel-u", "bel-j", "gen", "gen-ex", decode.Auto} {
		d, err := decode.Builtin().New(name, c, decode.Options{Temperature: tau})
		if err != nil {
			continue
		}
		fmt.Print(name)
		for i := range samples {
			fmt.Printf(" %v", one(d, z.RawRowView(i), os.Args[3] == "logits"))
		}
		fmt.Println()
	}
}

// one decodes a sample.
func one(d decode.Decoder, z []float64, logits bool) float64 {
	if soft, ok := d.(decode.LogitDecoder); ok && logits {
		return soft.DecodeLogits(z)
	}
	word := make([]uint64, (len(z)+63)/64)
	for k, v := range z {
		if v > 0 {
			word[k/64] |= 1 << (k % 64)
		}
	}
	if real, ok := d.(decode.RealDecoder); ok {
		return real.Value(word)
	}
	return float64(d.Decode(word))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
