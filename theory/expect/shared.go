package expect

import (
	"context"
	"errors"
	"sync"

	"belsim/theory"
)

// marginal is the problem of the marginal probabilities of the bits, without shared noise: what
// holds for it under any law of the bits holds for p.
func (p *Problem) marginal() (*Problem, error) {
	if p.Shared == nil {
		return p, nil
	}
	w, err := p.Shared.Seen(p.Code)
	if err != nil {
		return nil, err
	}
	q := *p
	q.Shared = nil
	q.Errors, err = w.Marginals(p.Code, p.Errors)
	return &q, err
}

// sharedBounds are the bounds of all levels with shared noise.
func (p *Problem) sharedBounds(ctx context.Context, workers int) (name string, out []float64, err error) {
	b, err := p.bound()
	if err != nil {
		return "", nil, err
	}
	w, err := p.Shared.Seen(p.Code)
	if err == nil {
		out, err = theory.SharedBounds(ctx, workers, w, p.Code, p.Decoder, p.Cost, p.Logits, p.Errors)
	}
	return b.Name, out, err
}

// sharedAnswers are the exact values of all levels with shared noise: those of the answers to the
// levels ξ with the costs of label n, weighed by W.
func (q theorist) sharedAnswers(ctx context.Context, most int, out []Level) error {
	p := q.p
	w, err := p.Shared.Seen(p.Code)
	if err != nil {
		return err
	}
	parts := make([][][3]float64, len(out)) // by ξ and label
	squared := p.Cost.Squared()
	err = p.eachLaw(ctx, q.workers, most/len(out), !p.Cost.Absolute(), func(x int, a theory.Answers) {
		for _, n := range w.ByLevel[x] {
			mean, meanSquare := a.Mean(p.Cost, n.Row+1)
			square := meanSquare
			if !p.Cost.Absolute() {
				square, _ = a.Mean(squared, n.Row+1)
			}
			parts[x] = append(parts[x], [3]float64{n.Weight * mean, n.Weight * meanSquare, n.Weight * square})
		}
	})
	if errors.Is(err, theory.ErrNoClosedForm) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range out {
		out[i].Mean, out[i].MeanSquare, out[i].Square = 0, 0, 0
	}
	for x, of := range parts {
		for j, v := range of {
			l := &out[w.ByLevel[x][j].Row]
			l.Mean, l.MeanSquare, l.Square = l.Mean+v[0], l.MeanSquare+v[1], l.Square+v[2]
		}
	}
	return nil
}

// sharedMean is a mean over the labels with shared noise, prepared for one prior.
type sharedMean struct {
	once  sync.Once
	costs *theory.Costs
	err   error
}

// mean is Σ prior·mean cost of a problem.
func (s *sharedMean) mean(ctx context.Context, p *Problem, law *theory.Law, prior []float64) (float64, error) {
	s.once.Do(func() { s.costs, s.err = p.Shared.NewCosts(p.Code, p.Decoder, p.Cost, prior) })
	if s.err != nil {
		return 0, s.err
	}
	return law.Mean(ctx, p.Errors, s.costs)
}
