package perceived

import (
	"math"
	"math/bits"

	"belsim/errmodel/observed"
	"belsim/theory/decode"
)

// reader reads what a network says at the nodes. Use a reader on one goroutine.
type reader struct {
	*Nodes
	n         *Network
	predict   func(perceived float64) float64 // what direct regression answers
	decodings []observed.Decoding
	hard      []int    // the decodings of hard decisions that are sampled, or means over words
	unary     *onUnary // nil where no decoding has a mean over the residuals
	// means are those of the decodings over the residuals, as unary has them; nil where it has none.
	means []func(g *onUnary, label float64) moment

	sample    *observed.Sample
	z         []float64
	place     []int // of each bit, among the residuals of a node
	undecided []undecided
}

// undecided is a bit that its residual decides.
type undecided struct {
	bit int
	one float64 // probability
}

func newReader(p *Nodes, n *Network, decodings []observed.Decoding, predict func(float64) float64,
	correlations *decode.Correlations) *reader {
	m := n.c.Bits()
	r := &reader{Nodes: p, n: n, decodings: decodings, predict: predict, sample: observed.NewSample(m, correlations),
		z: make([]float64, m), place: p.places(n.c), means: make([]func(*onUnary, float64) moment, len(decodings))}
	unary := !n.p.Training.Joint() && likeUnary(n.c)
	for j, d := range decodings {
		switch mean := meanOf(d); {
		case unary && mean != nil:
			if r.means[j] = mean; r.unary == nil {
				r.unary = newOnUnary(n)
			}
		case !d.Soft && !d.Predicts():
			r.hard = append(r.hard, j)
		}
	}
	return r
}

// read sets dst to the error of each decoding at node i, where this is the perceived label, and
// returns the number of wrong bits. Errors of gen and bel-u on hard decisions of unary that was
// trained bit by bit, and of all hard decisions at smooth nodes, are means over residuals.
func (r *reader) read(dst []moment, i int, perceived float64) (wrong int) {
	label := r.label[i]
	r.n.Logits(r.z, perceived)
	if r.undecided = r.undecided[:0]; r.smooth && len(r.hard) > 0 {
		r.listUndecided()
	}
	row := r.row(i)
	for k, at := range r.place {
		r.z[k] += r.n.residualSD[k] * float64(row[at])
	}
	r.sample.Set(r.z)
	for k, w := range r.n.c.Word(r.level[i]) {
		wrong += bits.OnesCount64(w ^ r.sample.Word[k])
	}
	if r.unary != nil {
		r.unary.see(perceived)
	}
	clear(dst)
	for j, d := range r.decodings {
		switch {
		case d.Predicts():
			dst[j].add(1, r.predict(perceived)-label)
		case d.Soft:
			dst[j].add(1, r.sample.Label(d)-label)
			if mean := r.means[j]; mean != nil {
				// It mostly answers as gen on hard decisions does, whose mean is known.
				var sampled moment
				sampled.add(1, r.sample.Label(observed.Decoding{Decoder: d.Decoder})-label)
				known := mean(r.unary, label)
				dst[j].mean += known.mean - sampled.mean
				dst[j].square += known.square - sampled.square
			}
		case r.means[j] != nil:
			dst[j] = r.means[j](r.unary, label)
		}
	}
	if len(r.hard) > 0 {
		r.words(dst, label)
	}
	return wrong
}

// listUndecided lists the bits that are undecided, where they are few.
func (r *reader) listUndecided() {
	const far, most = 3.1, 3 // residuals are larger once in 500 times
	for k, f := range r.z {
		if math.Abs(f) >= far*r.n.residualSD[k] {
			continue
		}
		if len(r.undecided) == most {
			r.undecided = r.undecided[:0]
			return
		}
		r.undecided = append(r.undecided, undecided{k, math.Erfc(-f*r.n.inverse[k]) / 2})
	}
}

// words adds to dst, for decodings of hard decisions, the errors of the words that undecided bits make.
func (r *reader) words(dst []moment, label float64) {
	for set := range 1 << len(r.undecided) {
		weight := 1.0
		for b, u := range r.undecided {
			if r.z[u.bit] = 1; set>>b&1 == 0 {
				r.z[u.bit] = -1
				u.one = 1 - u.one
			}
			weight *= u.one
		}
		if len(r.undecided) > 0 {
			r.sample.Set(r.z)
		}
		for _, j := range r.hard {
			dst[j].add(weight, r.sample.Label(r.decodings[j])-label)
		}
	}
}
