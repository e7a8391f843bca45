package perceived_test

import (
	"context"
	"fmt"

	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// What networks learn of three codes, when the noise of the label that they perceive is 1.5
// levels: how often the worst bit errs, and a logit. Bit 3 of one-hot is one at level 3 only;
// gray's last bit changes at every second level, and is lost.
func ExampleModel() {
	for _, name := range []string{"unary", "gray", "onehot"} {
		c, err := code.New(name, 32)
		if err != nil {
			fmt.Println(err)
			return
		}
		p := perceived.Model{Noise: 1.5, Misfit: perceived.DefaultMisfit, Training: perceived.BCE}
		l, err := p.Learn(context.Background(), 0, c, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		worst := 0.0
		for k := range c.Bits() {
			rate := 0.0
			for i := range c.Levels() {
				rate += l.At(i, k) / float64(c.Levels())
			}
			worst = max(worst, rate)
		}
		f := make([]float64, c.Bits())
		l.Logits(f, 8)
		fmt.Printf("%s: at most %.2f; the logit of bit 3 at the perceived label 8 is %.1f\n", name, worst, f[2])
	}
	// Output:
	// unary: at most 0.04; the logit of bit 3 at the perceived label 8 is 5.4
	// gray: at most 0.49; the logit of bit 3 at the perceived label 8 is 2.8
	// onehot: at most 0.03; the logit of bit 3 at the perceived label 8 is -3.6
}
