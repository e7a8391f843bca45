package forecast

import (
	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

// Head is a last layer with its loss that has a name of its own. Its outputs are read as those of a
// code, which they tell as much as.
type Head struct {
	Name     string
	Code     string             // the name of the code
	Training perceived.Training // the only one that it has
	Loss     perceived.Training // its name in results; "" for Training
	Own      bool               // it is no training of the code's outputs: the code has the head's name
	Predicts bool               // it has one output, the label itself
	Chain    bool               // outputs are of the conditions y > k where y > k−1
	// Distribution says that outputs may be a distribution over the levels, whose sum is one.
	Distribution bool
}

// heads are all heads.
var heads = []Head{
	{Name: Direct, Code: "unary", Training: perceived.BCE, Loss: "l1", Own: true, Predicts: true},
	{Name: CORN, Code: "unary", Training: perceived.BCE, Own: true, Chain: true},
	{Name: "softmax", Code: "onehot", Training: perceived.CE, Distribution: true},
	{Name: "hl-gauss", Code: "onehot", Training: perceived.Soft, Distribution: true},
}

// LookupHead returns the head of a name, or the zero Head for a name that is a code's.
func LookupHead(name string) Head {
	for _, h := range heads {
		if h.Name == name {
			return h
		}
	}
	return Head{}
}

// HeadOf is the head that a code after a training makes, or the zero Head.
func HeadOf(c string, t perceived.Training) Head {
	for _, h := range heads {
		if h.Own && h.Name == c || !h.Own && h.Code == c && h.Training == t {
			return h
		}
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

// Open is the code of the head with so many levels, under the head's name where that is its own.
func (h Head) Open(levels int) (*code.Code, error) {
	c, err := code.New(h.Code, levels)
	if err == nil && h.Own {
		c = c.As(h.Name)
	}
	return c, err
}

// OwnHeads are the heads that are no trainings of codes, as codes of so many levels.
func OwnHeads(levels int) (out []*code.Code, err error) {
	for _, h := range heads {
		if !h.Own {
			continue
		}
		c, err := h.Open(levels)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
