package theory

import (
	"context"
	"fmt"

	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// outcomes has the label that a decoder gives for each of the 2^M outputs, as a decision diagram
// (Bryant 1986): equal parts of the table of labels are stored once.
type outcomes struct {
	code   *code.Code
	labels []float64 // of the first nodes
	// by bit: the nodes after those of the bits before it; the last node of all is where decisions
	// begin
	layers [][]decision
}

// decision is a node: the next one if the bit is zero, and if it is one.
type decision struct{ zero, one int32 }

const (
	maxOutcomeBits = 20
	maxOutcomeWork = 1 << 31 // comparisons of an output with a code word
)

// Enumerable returns an error that wraps ErrNoClosedForm where a code has too many outputs for a
// decoder to be asked for the labels of them all.
func Enumerable(c *code.Code, d decode.Decoder) error {
	m := c.Bits()
	work := c.Levels() << min(m, 40)
	if decode.Real(d) || c.Real() || decode.Is[decode.Informed](d) {
		work *= m + 10 // a product a bit and an exponential, not one comparison
	}
	if m > maxOutcomeBits || work > maxOutcomeWork {
		return fmt.Errorf("%w: decoder %s has 2^%d outputs for %d levels, and only up to 2^%d are enumerated",
			ErrNoClosedForm, d.Name(), m, c.Levels(), maxOutcomeBits)
	}
	return nil
}

func newOutcomes(ctx context.Context, c *code.Code, d decode.Decoder) (*outcomes, error) {
	if err := Enumerable(c, d); err != nil {
		return nil, err
	}
	t := &outcomes{code: c}
	nodes := make([]int32, 1<<c.Bits())
	known, word := map[float64]int32{}, make([]uint64, 1)
	var rows []uint32
	if gen, ok := d.(decode.Gen); ok && !c.Real() {
		rows = gen.Rows()
	}
	for w := range nodes {
		if w%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		var label float64
		if word[0] = uint64(w); rows != nil {
			label = float64(rows[w] + 1)
		} else if label = decode.Value(d, word); decode.Real(d) && c.Uneven() { // a place
			_, label = c.Nearest(label)
		}
		node, ok := known[label]
		if !ok {
			node = int32(len(t.labels))
			known[label] = node
			t.labels = append(t.labels, label)
		}
		nodes[w] = node
	}
	t.decide(nodes)
	return t, nil
}

// decide makes the layers. nodes are by output, and are overwritten: a bit halves them.
func (t *outcomes) decide(nodes []int32) {
	count := int32(len(t.labels))
	for range t.code.Bits() {
		var layer []decision
		known := map[decision]int32{}
		for w := range len(nodes) / 2 {
			d := decision{nodes[2*w], nodes[2*w+1]}
			node, ok := known[d]
			switch {
			case d.zero == d.one: // the bit changes nothing
				node = d.zero
			case !ok:
				node = count
				count++
				known[d] = node
				layer = append(layer, d)
			}
			nodes[w] = node
		}
		nodes = nodes[:len(nodes)/2]
		t.layers = append(t.layers, layer)
	}
}

// nodes is the number of nodes.
func (t *outcomes) nodes() int {
	count := len(t.labels)
	for _, layer := range t.layers {
		count += len(layer)
	}
	return count
}

// form has the law of the answer by the diagram: the probability of every node, from the root to the
// labels, in O(nodes) a row.
//
// A bit adds two roundings, of 1−e and a product, and all sums together are of at most 2^M outputs. No
// term is negative, so that sums do not make relative errors larger: a mean is relatively wrong by at
// most (2M+3+2^M)·2⁻⁵³, 1.2·10⁻¹⁰, and by what is of second order.
func (t *outcomes) form() form {
	return &outcomesForm{outcomes: t, nodes: make([]float64, t.nodes()), outputs: make([][2]float64, len(t.layers))}
}

type outcomesForm struct {
	*outcomes
	level   int
	outputs [][2]float64 // by bit, the probabilities of a zero and of a one
	nodes   []float64    // scratch
}

func (x *outcomesForm) set(_ context.Context, i int, e []float64) error {
	x.level = i + 1
	for k, p := range e {
		x.outputs[k] = [2]float64{1 - p, p}
		if x.code.Bit(i, k) {
			x.outputs[k] = [2]float64{p, 1 - p}
		}
	}
	return nil
}

func (x *outcomesForm) answers() Answers { // at most 2²¹ nodes
	p := x.nodes
	clear(p)
	p[len(p)-1] = 1
	end := len(p)
	for k := len(x.layers) - 1; k >= 0; k-- {
		layer, of := x.layers[k], x.outputs[k]
		end -= len(layer)
		for n, d := range layer {
			if q := p[end+n]; q > 0 {
				p[d.zero] += float64(q * of[0])
				p[d.one] += float64(q * of[1])
			}
		}
	}
	return Answers{x.labels, p[:len(x.labels)]}
}

// mean goes through the diagram from the labels to the root: the mean cost of each node from those of
// the next ones. So a bit adds three roundings, and a label two: it is relatively wrong by at most
// (3M+3)·2⁻⁵³.
func (x *outcomesForm) mean(c cost.Cost) (float64, bool) {
	for n, label := range x.labels {
		x.nodes[n] = c.Of(x.level, label)
	}
	next := x.nodes[len(x.labels):]
	for k, layer := range x.layers {
		of, to := x.outputs[k], next[:len(layer)]
		for n, d := range layer {
			to[n] = of[0]*x.nodes[d.zero] + of[1]*x.nodes[d.one]
		}
		next = next[len(layer):]
	}
	return x.nodes[len(x.nodes)-1], true
}
