// Package head names the heads of networks: a last layer with its loss. A [Head] has a code, by whose
// words its outputs are read, and a [Training].
package head

import (
	"slices"
	"strings"

	"belsim/theory/code"
)

// Training says what a network's outputs were trained for.
type Training string

const (
	// BCE is the training of each bit by its own binary cross-entropy.
	BCE Training = "bce"
	// CE is the training of all bits together by the cross-entropy of softmax(Z·Cᵀ), the decoder's
	// distribution over the levels.
	CE Training = "ce"
	// Soft is CE against a Gaussian over the levels around the label, in the place of the level:
	// with one-hot it is HL-Gauss.
	Soft Training = "soft"
	// L1 and L2 are the training of all bits together by the mean |error| or the squared error of
	// gen-ex, the mean of the decoder's distribution.
	L1 Training = "l1"
	L2 Training = "l2"
)

// Loss is the name of the training's loss, for people.
func (t Training) Loss() string {
	if t == Soft {
		return "soft targets"
	}
	return strings.ToUpper(string(t))
}

// The names of heads whose outputs are no bits of a code. They tell as much of a label as bits of
// unary do.
const (
	// Direct is direct regression: a network without a code, whose output is the label. Its loss is
	// the mean |error|.
	Direct = "direct"
	// CORN is a network whose outputs are of the conditions y > k where y > k−1.
	CORN = "corn"
)

// SoftSigma is the standard deviation of soft targets, in levels, by default.
const SoftSigma = 0.75

// Head is a last layer with its loss that has a name of its own. Its outputs are read as those of a
// code, which they tell as much as.
type Head struct {
	Name     string
	Code     string   // the name of the code
	Training Training // the only one that it has
	Own      bool     // it is no training of the code's outputs: the code has the head's name
}

// heads are all heads. Outputs of those that are not Own may be a distribution over the levels.
var heads = []Head{
	{Direct, "unary", BCE, true},
	{CORN, "unary", BCE, true},
	{"softmax", "onehot", CE, false},
	{"hl-gauss", "onehot", Soft, false},
}

// Lookup returns the head of a name, or the zero Head for a name that is a code's.
func Lookup(name string) Head {
	return first(func(h Head) bool { return h.Name == name })
}

// Of is the head that a code after a training makes, or the zero Head.
func Of(c string, t Training) Head {
	return first(func(h Head) bool { return h.Own && h.Name == c || !h.Own && h.Code == c && h.Training == t })
}

func first(is func(Head) bool) Head {
	if i := slices.IndexFunc(heads, is); i >= 0 {
		return heads[i]
	}
	return Head{}
}

// Called is what people call a code after a training.
func Called(c string, t Training) string {
	if h := Of(c, t); h.Name != "" {
		return h.Name
	}
	return c
}

// Described is Called in a sentence: a code has the loss that it was trained with.
func Described(c string, t Training) string {
	switch name := Called(c, t); {
	case name == Direct:
		return "direct regression"
	case name == c && Lookup(c).Name == "":
		return name + " with " + t.Loss()
	default:
		return name
	}
}

// OpenCode opens a code, a NAME or a FILE, which may be one of real numbers, or the one that a head
// is read as. A head that is Own gives it its name. Errors name the code or the file at fault.
func OpenCode(name string, levels int) (*code.Code, error) {
	h := Lookup(name)
	if h.Name == "" {
		if _, known := code.Lookup(name); !known && !code.IsFile(name) {
			var names []string
			for _, h := range heads {
				names = append(names, h.Name)
			}
			return nil, code.Unknown(name, names...)
		}
		return code.OpenReal(name, levels)
	}
	c, err := code.New(h.Code, levels)
	if err == nil && h.Own {
		c = c.As(h.Name)
	}
	return c, err
}
