package forecast

import (
	"slices"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// The names of heads whose outputs are no bits of a code. They tell as much of a label as bits of
// unary do.
const (
	// Direct is direct regression: a network without a code, whose output is the label. Its loss is
	// the mean |error|.
	Direct = "direct"
	// CORN is a network whose outputs are of the conditions y > k where y > k−1.
	CORN = "corn"
)

// SoftSigma is the standard deviation of soft targets, in levels, that forecasts are for.
const SoftSigma = 0.75

// Head is a last layer with its loss that has a name of its own. Its outputs are read as those of a
// code, which they tell as much as.
type Head struct {
	Name     string
	Code     string             // the name of the code
	Training perceived.Training // the only one that it has
	Own      bool               // it is no training of the code's outputs: the code has the head's name
}

// heads are all heads. Outputs of those that are not Own may be a distribution over the levels.
var heads = []Head{
	{Direct, "unary", perceived.BCE, true},
	{CORN, "unary", perceived.BCE, true},
	{"softmax", "onehot", perceived.CE, false},
	{"hl-gauss", "onehot", perceived.Soft, false},
}

// LookupHead returns the head of a name, or the zero Head for a name that is a code's.
func LookupHead(name string) Head {
	return firstHead(func(h Head) bool { return h.Name == name })
}

// HeadOf is the head that a code after a training makes, or the zero Head.
func HeadOf(c string, t perceived.Training) Head {
	return firstHead(func(h Head) bool { return h.Own && h.Name == c || !h.Own && h.Code == c && h.Training == t })
}

func firstHead(is func(Head) bool) Head {
	if i := slices.IndexFunc(heads, is); i >= 0 {
		return heads[i]
	}
	return Head{}
}

// Called is what people call a code after a training.
func Called(c string, t perceived.Training) string {
	if h := HeadOf(c, t); h.Name != "" {
		return h.Name
	}
	return c
}

// Described is Called in a sentence: a code has the loss that it was trained with.
func Described(c string, t perceived.Training) string {
	switch name := Called(c, t); {
	case name == Direct:
		return "direct regression"
	case name == c && LookupHead(c).Name == "":
		return name + " with " + t.Loss()
	default:
		return name
	}
}

// OpenCode opens a code, a NAME or a FILE, which may be one of real numbers, or the one that a head
// is read as. A head that is Own gives it its name.
func OpenCode(name string, levels int) (*code.Code, error) {
	h := LookupHead(name)
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

// AddDirect adds the error of direct regression to the measured ones, in levels. The standard error
// is that of its difference from the network's, which has apart of the one of a network's own error.
// The error is about the decoders.
func (f *Forecaster) AddDirect(e observed.Error) error {
	c, err := OpenCode(Direct, len(f.Prior))
	if err != nil || len(f.Measured) == 0 {
		return err
	}
	all, err := f.decodings(c, perceived.BCE)
	if err != nil || len(all) == 0 {
		return err
	}
	e.StdErr /= apart
	f.Measured = append(slices.Clip(f.Measured), Measured{Code: c, Training: perceived.BCE, Decoding: all[0],
		Error: e, network: -1})
	return nil
}

// sensible reports whether a decoding reads networks of a code after a training. Heads are trained bit by bit.
// Predictions of direct regression are read as their levels.
func sensible(c *code.Code, t perceived.Training, d observed.Decoding) bool {
	switch c.Name() {
	case Direct:
		return t == perceived.BCE && !d.Soft && decode.Is[decode.Gen](d.Decoder)
	case CORN:
		return t == perceived.BCE
	}
	return t.Describes(d)
}
