package observed

import (
	"context"
	"math/rand/v2"

	"belsim/theory/code"
	"belsim/theory/decode"
)

// Samples are some samples of a Source, in memory.
type Samples struct {
	Level []int     // of the target, from 1
	Exact []float64 // the target itself, in levels
	// predictions of direct regression, and the network's own ones, in levels; without meaning where there are none
	Direct, Own []float64
	Outputs     []float64 // N × M: logits, or ±1 for hard decisions
	Bits        int       // M
	All         int       // how many samples the Source has
}

// Len is the number N of samples.
func (s *Samples) Len() int { return len(s.Level) }

// Row returns the outputs of sample i, from 0.
func (s *Samples) Row(i int) []float64 { return s.Outputs[i*s.Bits : (i+1)*s.Bits] }

// Subsample reads all samples of a source, or some of them where there are more than most: every sample
// is taken with the same probability, and the seed decides which. Their order is random. done is
// told how many samples were read since its last call, and may be nil. Errors name the file and the
// place, or are the context's.
func (s *Source) Subsample(ctx context.Context, most int, seed uint64, done func(samples uint64)) (*Samples, error) {
	r := s.newReservoir(most, seed)
	err := s.each(ctx, done, nil, func(b *batch) error {
		for j := range b.n {
			r.add(b, j)
		}
		return nil
	})
	return &r.out, err
}

// reservoir takes some samples of those that pass.
type reservoir struct {
	out  Samples
	most int
	rng  *rand.Rand
}

// newReservoir has room for most of the outputs, as far as their number is known.
func (s *Source) newReservoir(most int, seed uint64) *reservoir {
	rows, m := s.Outputs.Dims()
	out := Samples{Bits: m, Outputs: make([]float64, 0, min(max(rows, 0), most)*m)}
	return &reservoir{out, most, rand.New(rand.NewPCG(seed, 0x5a3c))}
}

// add adds sample j of a batch, perhaps. A sample goes to a random place among those before it, of which
// the last has the one that was there; beyond most it is not taken.
func (r *reservoir) add(b *batch, j int) {
	out, z := &r.out, b.z[j*r.out.Bits:(j+1)*r.out.Bits]
	at, n := r.rng.IntN(out.All+1), out.Len()
	out.All++
	if n < r.most {
		out.Level, out.Exact = append(out.Level, 0), append(out.Exact, 0)
		out.Direct, out.Own = append(out.Direct, 0), append(out.Own, 0)
		out.Outputs = append(out.Outputs, z...)
		if at < n {
			out.set(n, out.Level[at], out.Exact[at], out.Direct[at], out.Own[at], out.Row(at))
		}
	}
	if at < out.Len() {
		out.set(at, b.level[j], b.exact[j], b.direct[j], b.own[j], z)
	}
}

// set sets sample i.
func (s *Samples) set(i, level int, exact, direct, own float64, outputs []float64) {
	s.Level[i], s.Exact[i], s.Direct[i], s.Own[i] = level, exact, direct, own
	copy(s.Row(i), outputs)
}

// Labels decodes all samples in every way: the labels of a sample beside each other, N × decodings.
// workers is the number of goroutines, 0 for one on each processor; it changes no label.
func (s *Samples) Labels(ctx context.Context, workers int, c *code.Code, decodings []Decoding) ([]float64, error) {
	out, labels := make([]float64, s.Len()*len(decodings)), LabelsOf(decodings).Read
	read := func(dst []float64, _ int, sample *Sample) { labels(dst, sample) }
	return out, readBatch(ctx, workers, out, &batch{n: s.Len(), z: s.Outputs}, s.Bits, len(decodings),
		decode.NewCorrelations(c), read)
}
