package montecarlo

import (
	"context"
	"math"

	"belsim/montecarlo/internal/lanes"
	"belsim/montecarlo/tables"
	"belsim/theory/base/philox"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// latentSampler samples logits, or hard outputs bit by bit, on one goroutine.
type latentSampler struct {
	keys    *philox.Keys
	maker   *tables.LogitMaker
	tables  *tables.Logits
	soft    latentDecoder // of logits
	hard    hardDecoder   // of hard outputs
	wrong   []uint64      // of a group of hard outputs
	words   []uint64
	logits  []lanes.Ints
	centers []int32 // of a batch
	errors  lanes.Errors
}

func newLatentSampler(p *Problem, keys *philox.Keys) *latentSampler {
	s := &latentSampler{keys: keys, maker: p.LogitTables()}
	s.maker.Transforms = p.Code.Sylvester() && p.fitsNarrow()
	s.errors.Scale = float64(uint64(1) << p.Fraction())
	if p.Kind.Hard() {
		s.hard = newHardDecoder(p)
	} else {
		s.soft = newLatentDecoder(p)
	}
	return s
}

// latentChunk is about how many logits are made between two looks at the context.
const latentChunk = 1 << 14

// row implements sampler.
func (s *latentSampler) row(ctx context.Context, row int) (err error) {
	if s.tables != nil && s.tables.Row == row {
		return nil
	}
	if s.tables, err = s.maker.Row(ctx, row); err != nil {
		return err
	}
	s.errors.Base = float64(row + 1)
	s.centers = s.centers[:0]
	for range lanes.Batch {
		s.centers = append(s.centers, s.tables.Centers...)
	}
	if s.hard != nil {
		s.hard.prepare(s.tables)
	} else {
		s.soft.prepare(s.tables)
	}
	return nil
}

// block implements sampler.
func (s *latentSampler) block(ctx context.Context, st stream, n int, t *tally) error {
	if s.hard != nil {
		return s.hardBlock(ctx, st, n, t)
	}
	return s.softBlock(ctx, st, n, t)
}

// softBlock is block for logits. Group g takes draws Width·A·g … of the stream: the noise of one
// drawn bit after the other.
func (s *latentSampler) softBlock(ctx context.Context, st stream, n int, t *tally) error {
	draws := len(s.tables.Bits)
	if len(s.logits) < draws*lanes.Batch {
		s.words = make([]uint64, draws*lanes.Batch*lanes.Width/2)
		s.logits = make([]lanes.Ints, draws*lanes.Batch)
	}
	var labels [lanes.Width]float64
	batch, sinceLook := s.batchDecoder(), 0
	for first := 0; first < n; first += lanes.Batch * lanes.Width {
		left := min(n-first, lanes.Batch*lanes.Width)
		groups := (left + lanes.Width - 1) / lanes.Width
		if batch != nil {
			groups = lanes.Batch
		}
		if sinceLook += groups * draws * lanes.Width; sinceLook >= latentChunk {
			sinceLook = 0
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s.draw(st, groups, first*draws)
		if batch != nil {
			sum, weight := batch.batch(s.logits[:groups*draws], draws)
			t.batch(sum, weight, left, &s.errors)
			continue
		}
		for g := range groups {
			count := min(lanes.Width, left-g*lanes.Width)
			s.soft.decode(&labels, s.logits[g*draws:(g+1)*draws], count)
			for _, label := range labels[:count] {
				t.real(label)
			}
		}
	}
	return nil
}

// batchDecoder returns the decoder of batches, nil where the decoder takes group by group.
func (s *latentSampler) batchDecoder() batchDecoder {
	if d, ok := s.soft.(batchDecoder); ok && d.batches() {
		return d
	}
	return nil
}

// draw makes the logits of some groups, A rows apart; first is the index of the first draw.
func (s *latentSampler) draw(st stream, groups, first int) {
	rows := groups * len(s.tables.Bits)
	words := s.words[:rows*lanes.Width/2]
	philox.Fill(words, s.keys, st.at(streamLatent, 0, uint32(first/4)))
	lanes.Noise(s.logits[:rows], words, s.centers[:rows], func(i int) uint64 {
		x := philox.Call(s.keys, st.at(streamTail, 0, uint32(first+i)))
		return uint64(x[0]) | uint64(x[1])<<32
	})
}

// latentDecoder turns logits into labels.
type latentDecoder interface {
	prepare(p *tables.Logits)
	// decode decodes the first count samples of a group, or all; logits may be changed.
	decode(labels *[lanes.Width]float64, logits []lanes.Ints, count int)
}

// batchDecoder is a latentDecoder that can take lanes.Batch groups at once, and nothing else then.
type batchDecoder interface {
	// batches reports whether it does, for the row that is prepared.
	batches() bool
	// batch decodes a batch, whose groups are stride rows apart: labels are sum/weight from the
	// row, or sum where weight is nil.
	batch(logits []lanes.Ints, stride int) (sum, weight *[lanes.Batch]lanes.Floats)
}

// newLatentDecoder chooses the fastest way to decode a problem's logits. A decoder without a
// path of its own is called for every sample.
func newLatentDecoder(p *Problem) latentDecoder {
	if _, ok := p.correlated(); ok {
		return newCorrelator(p)
	}
	if _, ok := scoresOf(p); ok {
		return new(scorer)
	}
	// Problem.Validate has made sure that it reads logits.
	return &softDecoder{decoder: p.Decoder.(decode.LogitDecoder), z: make([]float64, p.Code.Bits())}
}

// batchLabel is the label of sample i of a batch, relative to the true level.
func batchLabel(sum, weight *[lanes.Batch]lanes.Floats, i int) float64 {
	label := float64(sum[i/lanes.Width][i%lanes.Width])
	if weight != nil {
		label /= float64(weight[i/lanes.Width][i%lanes.Width])
	}
	return label
}

// batch adds the first n samples of a batch.
func (t *tally) batch(sum, weight *[lanes.Batch]lanes.Floats, n int, e *lanes.Errors) {
	if n < lanes.Batch*lanes.Width || t.Answers != nil || t.largest > 0 {
		for i := range min(n, lanes.Batch*lanes.Width) {
			t.real(e.Base + batchLabel(sum, weight, i))
		}
		return
	}
	s := lanes.TallyBatch(sum, weight, e)
	t.Samples += lanes.Batch * lanes.Width
	t.Abs += s.Abs
	t.Square += s.Square
}

// softDecoder hands logits to a decoder that reads them, M at a time.
type softDecoder struct {
	decoder decode.LogitDecoder
	tables  *tables.Logits
	z       []float64
}

func (d *softDecoder) prepare(p *tables.Logits) { d.tables = p }

func (d *softDecoder) decode(labels *[lanes.Width]float64, logits []lanes.Ints, count int) {
	const unit = 1. / tables.LogitOne
	for i := range count {
		for k := range logits { // all bits are drawn
			d.z[d.tables.Bits[k]] = float64(logits[k][i]) * unit
		}
		labels[i] = d.decoder.DecodeLogits(d.z)
	}
}

// correlator decodes by correlations with the candidates: gen and gen-ex.
type correlator struct {
	code           *code.Code
	hard, ex, fits bool // fits: see Problem.fitsNarrow
	tables         *tables.Logits
	path           correlation

	outputs []lanes.Ints // logits of a group of hard outputs
	ones    []uint64     // by drawn bit: all ones where the code word has a one
	places  []uint16     // 0, 1, …, one for each drawn bit
	narrow  []lanes.Ints // correlations of the candidates, where 32 bits hold them
	most    lanes.Ints   // the largest of each sample
	best    lanes.Ints   // its place
	offsets []float32    // of each candidate from the true level
	wide    []lanes.Wide // elsewhere
	whole   []lanes.Ints // of a transform: all M logits
	sure    []uint16     // bits that are not drawn
	right   []lanes.Ints // their logits

	// Of a product code: correlations and weights of prefixes and suffixes.
	prefixes, suffixes           []lanes.Ints
	prefixWeights, suffixWeights []lanes.Floats
	patterns                     []lanes.Floats // scratch of lanes.Mix

	// What is kept of candidates, prefixes, suffixes and patterns has room for a batch.
	batchMost             [lanes.Batch]lanes.Ints
	batchWeight, batchSum [lanes.Batch]lanes.Floats
}

// correlation is a way to compute correlations. All give the same integers.
type correlation int

const (
	narrow    correlation = iota // from one candidate to the next, bit by bit, in 32 bits
	wide                         // in 64 bits
	transform                    // the fast Walsh–Hadamard transform, in 32 bits
	factored                     // for gen-ex: prefixes and suffixes of a product code
)

// narrowBits is the largest number of drawn bits whose running sums, and their
// differences, fit 32 bits. A logit is below 16.5·tables.LogitOne < 2²⁰·⁰⁵, a difference of
// two sums below 2·narrowBits of them. A hard output is only tables.LogitOne = 2¹⁶ large.
const (
	narrowBits     = 950
	narrowHardBits = 16 * narrowBits
)

// fitsNarrow reports whether 32 bits hold the running sums; fixed parts count too.
func (p *Problem) fitsNarrow() bool {
	return p.Code.Bits() <= narrowBits || p.Kind.Hard() && p.Code.Bits() <= narrowHardBits
}

// correlated tells how the problem's decoder is one of correlations: gen takes the largest, for
// which the temperature is 0, and gen-ex a softmax at its temperature. ok is false for decoders that
// correlator does not know, and for gen-ex on a circle.
func (p *Problem) correlated() (temperature float64, ok bool) {
	switch d := p.Decoder.(type) {
	case decode.Gen:
		return 0, true
	case decode.GenEx:
		if !p.Code.Circular() {
			return d.Temperature(), true
		}
	}
	return 0, false
}

// newCorrelator decodes the logits or the hard outputs of a problem whose decoder is correlated.
func newCorrelator(p *Problem) *correlator {
	temperature, _ := p.correlated()
	return &correlator{code: p.Code, hard: p.Kind.Hard(), ex: temperature > 0, fits: p.fitsNarrow()}
}

// prepare chooses the way of the tables.
func (c *correlator) prepare(p *tables.Logits) {
	c.tables = p
	switch {
	case p.Product != nil:
		c.path = factored
		n, m := len(p.Product.Prefixes.Fixed), len(p.Product.Suffixes.Fixed)
		c.prefixes, c.suffixes = sized(c.prefixes, lanes.Batch*n), sized(c.suffixes, lanes.Batch*m)
		c.prefixWeights, c.suffixWeights = sized(c.prefixWeights, lanes.Batch*n), sized(c.suffixWeights, lanes.Batch*m)
		c.patterns = sized(c.patterns, lanes.Batch*len(p.Product.Patterns)/m)
	case p.Transform:
		c.path = transform
	case c.fits:
		c.path = narrow
	default:
		c.path = wide
	}
	c.offsets = c.offsets[:0]
	for _, level := range p.Levels {
		c.offsets = append(c.offsets, float32(int(level)-p.Row))
	}
	switch c.path {
	case narrow, transform:
		c.narrow = sized(c.narrow, lanes.Batch*len(p.Levels))
	case factored:
	default:
		c.wide = sized(c.wide, len(p.Levels))
	}
	if p.Transform {
		c.whole = sized(c.whole, c.code.Bits())
	}
	c.prepareBits()
}

// prepareBits tells the bits that are drawn from those that are sure.
func (c *correlator) prepareBits() {
	p, m := c.tables, c.code.Bits()
	c.ones, c.places, c.sure, c.right = c.ones[:0], c.places[:0], c.sure[:0], c.right[:0]
	for k := range m {
		one := bitAt(c.code.Word(p.Row), k)
		if a := len(c.ones); a < len(p.Bits) && int(p.Bits[a]) == k {
			c.ones, c.places = append(c.ones, -one), append(c.places, uint16(a))
			continue
		}
		if !p.Transform {
			continue
		}
		var right lanes.Ints
		for i := range right {
			if c.hard {
				right[i] = tables.LogitOne * (2*int32(one) - 1)
			}
		}
		c.sure, c.right = append(c.sure, uint16(k)), append(c.right, right)
	}
}

func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

func (c *correlator) batches() bool {
	return c.path == narrow || c.path == factored
}

func (c *correlator) batch(logits []lanes.Ints, stride int) (sum, weight *[lanes.Batch]lanes.Floats) {
	p := c.tables
	weight, sum = &c.batchWeight, &c.batchSum
	switch {
	case c.path == factored:
		lanes.RunBatch(c.prefixes, &c.batchMost, logits, stride, &p.Product.Prefixes)
		lanes.WeightsBatch(c.prefixWeights, c.prefixes, &c.batchMost, p.Limit, p.Scale)
		lanes.RunBatch(c.suffixes, &c.batchMost, logits, stride, &p.Product.Suffixes)
		lanes.WeightsBatch(c.suffixWeights, c.suffixes, &c.batchMost, p.Limit, p.Scale)
		lanes.MixBatch(weight, sum, c.prefixWeights, c.suffixWeights, c.patterns, p.Product)
	case c.ex:
		lanes.RunBatch(c.narrow, &c.batchMost, logits, stride, &p.RunningSum)
		lanes.SoftmaxBatch(weight, sum, c.narrow, &c.batchMost, c.offsets, p.Limit, p.Scale)
	default:
		lanes.BestBatch(sum, logits, stride, &p.RunningSum, c.offsets)
		weight = nil
	}
	return sum, weight
}

func (c *correlator) decode(labels *[lanes.Width]float64, logits []lanes.Ints, _ int) {
	switch c.path {
	case transform:
		c.transform(labels, logits)
	case wide:
		lanes.RunWide(c.wide, logits, &c.tables.RunningSum)
		c.label(labels)
	}
}

// labels implements hardDecoder.
func (c *correlator) labels(dst *[tables.FlipLanes]float64, wrong []uint64, wanted uint64) {
	a := len(wrong)
	c.outputs = sized(c.outputs, lanes.Batch*a)
	if c.batches() {
		for g := range lanes.Batch {
			lanes.Spread(c.outputs[g*a:], c.places, wrong, c.ones, g)
		}
		sum, weight := c.batch(c.outputs, a)
		for i := range dst {
			dst[i] = float64(c.tables.Row+1) + batchLabel(sum, weight, i)
		}
		return
	}
	for g := range tables.FlipLanes / lanes.Width {
		if wanted>>(g*lanes.Width)&(1<<lanes.Width-1) == 0 {
			continue
		}
		labels := (*[lanes.Width]float64)(dst[g*lanes.Width:])
		if c.path == transform { // takes them where it wants them
			lanes.Spread(c.whole, c.tables.Bits, wrong, c.ones, g)
			c.decode(labels, nil, lanes.Width)
			continue
		}
		lanes.Spread(c.outputs, c.places, wrong, c.ones, g)
		c.decode(labels, c.outputs[:a], lanes.Width)
	}
}

// softLabels are labels of weighted means of offsets from a row.
func softLabels(labels *[lanes.Width]float64, row int, sum, weight *lanes.Floats) {
	for i := range labels {
		labels[i] = float64(row+1) + float64(sum[i])/float64(weight[i])
	}
}

// labelBest takes the levels of the largest correlations.
func (c *correlator) labelBest(labels *[lanes.Width]float64) {
	for i := range labels {
		labels[i] = float64(c.tables.Levels[c.best[i]]) + 1
	}
}

// transform computes Σ_k z_k·(−1)^(i·k) for all rows i. A row of zeros and ones has half of it, and
// half of Σ z_k, which is the same for all rows: so differences of the transform are twice those of
// correlations. A sum of narrowBits logits and the difference of two fit 32 bits.
func (c *correlator) transform(labels *[lanes.Width]float64, logits []lanes.Ints) {
	p := c.tables
	c.fill(logits)
	lanes.Walsh(c.whole)
	sums := c.whole[:len(p.Levels)]
	if len(sums) < c.code.Levels() {
		sums = c.narrow[:len(p.Levels)]
		for m, level := range p.Levels {
			sums[m] = c.whole[level]
		}
	}
	lanes.Most(&c.most, sums)
	if !c.ex {
		lanes.First(&c.best, sums, &c.most)
		c.labelBest(labels)
		return
	}
	var weight, sum lanes.Floats
	lanes.Softmax(&weight, &sum, sums, &c.most, c.offsets, min(p.Limit, math.MaxInt32)<<1, p.Scale/2)
	softLabels(labels, p.Row, &sum, &weight)
}

// fill puts logits into whole, beside those that are not drawn. Of hard outputs these are surely
// right; other logits that are not drawn are the same for all candidates, and 0 will do.
func (c *correlator) fill(logits []lanes.Ints) {
	for i, k := range c.sure {
		c.whole[k] = c.right[i]
	}
	for a := range logits {
		c.whole[c.tables.Bits[a]] = logits[a]
	}
}

// label decodes the labels of a group from its correlations, in 64 bits.
func (c *correlator) label(labels *[lanes.Width]float64) {
	p, most := c.tables, c.wide[0]
	c.best = lanes.Ints{}
	for m := range c.wide {
		for i, v := range c.wide[m] {
			if v > most[i] {
				c.best[i], most[i] = int32(m), v
			}
		}
	}
	if !c.ex {
		c.labelBest(labels)
		return
	}
	var weight, sum lanes.Floats
	lanes.SoftmaxWide(&weight, &sum, c.wide, &most, c.offsets, p.Limit, p.Scale)
	softLabels(labels, p.Row, &sum, &weight)
}
