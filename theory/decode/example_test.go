package decode_test

import (
	"errors"
	"fmt"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// A decoder is made for a code. Here bit 2 of level 6's word is wrong.
func ExampleNew() {
	c, err := code.New("unary", 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	word := c.Word(5)[0] ^ 1<<1
	for _, name := range []string{"bel-u", "gen", "bel-j"} {
		d, err := decode.New(name, c)
		if errors.Is(err, decode.ErrUnfit) {
			fmt.Println(err)
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s reads level %d\n", d.Name(), d.Decode([]uint64{word}))
	}
	// Output:
	// bel-u reads level 5
	// gen reads level 6
	// decoder does not fit the code: bel-j reads johnson and johnson-nonzero, and unary is neither; use gen
}
