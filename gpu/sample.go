//go:build linux && cgo

package gpu

// #include "kernel.h"
import "C"

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"
	"unsafe"

	"belsim/gpu/internal/driver"
	"belsim/montecarlo"
	"belsim/montecarlo/tables"
	"belsim/theory/base/parallel"
	"belsim/theory/base/philox"
)

// Limits of one launch. A launch cannot be interrupted, so it is kept short: every launch tells
// what the next may hold. The rest bounds memory.
const (
	maxEntries    = 1 << 16
	maxTasks      = 1 << 17
	arenaBytes    = 256 << 20 // of the device, for the tables of one launch
	scratchBytes  = 64 << 20  // of the device, for each kind of memory that threads have of their own
	launchTime    = 50 * time.Millisecond
	firstSamples  = 1 << 20 // of the first launch, whatever the device
	taskSamples   = 256     // the fixed cost of a task, in samples
	groupsPerUnit = 16      // thread blocks of the kernels for any number of bits, per multiprocessor
)

// points reports whether samples are made from the few bits that err, and not from logits.
func points(p *montecarlo.Problem) bool { return p.Kind == montecarlo.IndependentBits }

// batch is the work of one launch. Its entries are rows, whose tables are made for the launch.
type batch struct {
	problem *montecarlo.Problem
	rows    []uint32 // of each entry
	samples []uint64 // of each entry
	tasks   struct{ entry, block, samples []uint32 }
	total   uint64
	started time.Time
}

// work is how long a batch takes, in samples.
func (b *batch) work() uint64 { return b.total + taskSamples*uint64(len(b.tasks.entry)) }

// cursor walks over the spans of a problem.
type cursor struct {
	problem *montecarlo.Problem
	spans   []montecarlo.Span // those that are left
	skip    uint64            // samples of the first that are in earlier batches
}

// next fills a batch with work of about this many samples; nil when there is no more work.
func (c *cursor) next(samples uint64) *batch {
	b, size := &batch{problem: c.problem}, sizeOf(c.problem)
	for len(c.spans) > 0 {
		span := c.spans[0]
		if c.skip == span.Samples {
			c.spans, c.skip = c.spans[1:], 0
			continue
		}
		if uint64(len(b.rows)) == size.maxEntries || uint64(len(b.tasks.entry)) == size.maxTasks ||
			b.work() >= samples {
			return b
		}
		entry := len(b.rows)
		b.rows, b.samples = append(b.rows, uint32(span.Row)), append(b.samples, 0)
		for c.skip < span.Samples && uint64(len(b.tasks.entry)) < size.maxTasks && b.work() < samples {
			n := min(span.Samples-c.skip, tables.BlockSize)
			b.tasks.entry = append(b.tasks.entry, uint32(entry))
			b.tasks.block = append(b.tasks.block, span.Block+uint32(c.skip/tables.BlockSize))
			b.tasks.samples = append(b.tasks.samples, uint32(n))
			b.samples[entry] += n
			b.total += n
			c.skip += n
		}
	}
	if len(b.rows) == 0 {
		return nil
	}
	return b
}

// Sample implements montecarlo.Backend. While a launch runs, the next one's
// probabilities are gathered on the processors.
func (d *Device) Sample(ctx context.Context, p *montecarlo.Problem, spans []montecarlo.Span, sums []montecarlo.Sums,
	done func(samples uint64)) error {
	p, err := montecarlo.Prepared(p, spans, sums)
	if err != nil {
		return err
	}
	if p.Counts() {
		return errors.New("a device gives the mean |error|; the CPU counts answers, which other costs and a confusion matrix take")
	}
	kernel, err := kernelFor(p)
	if err != nil {
		return err
	}
	if done == nil {
		done = func(uint64) {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.context == nil {
		return errors.New("the CUDA device is closed")
	}
	leave, err := d.context.Enter()
	if err != nil {
		return d.wrap(err)
	}
	defer leave()

	if err := d.load(ctx, p.Code, kernel.ordered); err != nil {
		return d.wrap(err)
	}
	work := cursor{problem: p, spans: spans}
	var running *batch
	for turn := 0; ; turn ^= 1 {
		var b *batch
		if err = ctx.Err(); err == nil {
			b, err = d.submit(ctx, &work, kernel, turn)
		}
		if running != nil {
			// What was launched is finished and counted, whatever came after.
			if collected := d.collect(running, sums, 1-turn, done); collected != nil {
				if b != nil { // its memory may be used again; the error that led here says more
					_ = d.streams[turn].Synchronize()
				}
				return d.wrap(collected)
			}
		}
		if err != nil || b == nil {
			return d.wrap(err)
		}
		running = b
	}
}

// wrap says which device an error comes from; errors of a context are left alone.
func (d *Device) wrap(err error) error {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return fmt.Errorf("CUDA device %s: %w", d.info.Name, err)
	}
	return err
}

// submit gathers the next batch and launches it; nil when there is no more work.
func (d *Device) submit(ctx context.Context, work *cursor, kernel placing, turn int) (*batch, error) {
	d.pace = cmp.Or(d.pace, firstSamples)
	b := work.next(d.pace)
	if b == nil {
		return nil, nil
	}
	return b, d.launch(ctx, b, kernel, turn)
}

// sizes are the sizes of tables: see kernel.h.
type sizes struct {
	words, columns, classes uint64
	maxEntries, maxTasks    uint64 // of a launch, for the memory they take
}

func sizeOf(p *montecarlo.Problem) sizes {
	c := p.Code
	m := uint64(c.Bits())
	s := sizes{words: uint64(words32(c)), columns: 1 << bits.Len64(m-1), classes: uint64(tables.MaxClasses(c.Bits()))}
	if !points(p) {
		s.maxEntries = min(maxLatentEntries, max(1, arenaBytes/latentBytes(p)))
		s.maxTasks = maxTasks
		return s
	}
	entry := 8*m + 4*s.words + 16*s.columns + 12*s.classes + 8*max(s.columns, s.classes) + 64
	s.maxEntries = min(maxEntries, max(1, arenaBytes/entry))
	s.maxTasks = min(maxTasks, max(1, arenaBytes/(4*s.classes)))
	return s
}

// arena is device memory that is cut up anew for every launch.
type arena struct {
	memory driver.Memory
	used   uint64
	sums   uint64 // offset of the sums of the launch that runs
	parts  []part
}

// part is a part of an arena, whose address place writes.
type part struct {
	address *C.bel_u64
	at      uint64
	fill    func(s driver.Stream, m driver.Memory, at uint64) error // nil for memory that kernels write first
}

// cut cuts off a part, aligned for any type, and returns its offset.
func (a *arena) cut(address *C.bel_u64, bytes uint64, fill func(driver.Stream, driver.Memory, uint64) error) uint64 {
	at := (a.used + 255) &^ 255
	a.used = at + bytes
	a.parts = append(a.parts, part{address, at, fill})
	return at
}

// room cuts off a part for kernels to write to.
func (a *arena) room(address *C.bel_u64, bytes uint64) { a.cut(address, bytes, nil) }

// put cuts off a part for data, which may change until they are copied.
func put[T any](a *arena, address *C.bel_u64, data []T) {
	var one T
	a.cut(address, uint64(len(data))*uint64(unsafe.Sizeof(one)),
		func(s driver.Stream, m driver.Memory, at uint64) error {
			return driver.CopyIn(s, m, at, data)
		})
}

// place makes the arena as large as its parts need and writes their addresses.
func (d *Device) place(a *arena) error {
	if a.used > a.memory.Bytes {
		if err := d.grow(&a.memory, a.used); err != nil {
			return err
		}
	}
	for _, p := range a.parts {
		*p.address = C.bel_u64(a.memory.Address(p.at))
	}
	return nil
}

// fill queues the copies of the data of the parts.
func (a *arena) fill(stream driver.Stream) error {
	for _, p := range a.parts {
		if p.fill != nil {
			if err := p.fill(stream, a.memory, p.at); err != nil {
				return err
			}
		}
	}
	a.parts = nil
	return nil
}

// step is a kernel and its number of thread blocks.
type step struct {
	kernel string
	groups uint64
}

// launch makes the tables of a batch and queues everything that it needs on a stream.
func (d *Device) launch(ctx context.Context, b *batch, kernel placing, turn int) error {
	entries, tasks := uint64(len(b.rows)), uint64(len(b.tasks.entry))
	stream, a := d.streams[turn], &d.arenas[turn]
	a.used, a.parts = 0, nil
	var l C.bel_launch
	put(a, &l.row, b.rows)
	put(a, &l.task_entry, b.tasks.entry)
	put(a, &l.task_block, b.tasks.block)
	put(a, &l.task_samples, b.tasks.samples)
	sums := 8 * C.BEL_SUMS * entries
	a.sums = a.cut(&l.sums, sums+8,
		func(s driver.Stream, m driver.Memory, at uint64) error { return s.Zero(m, at, sums+8) })

	var steps []step
	var needs []need
	var err error
	if points(b.problem) {
		steps, err = d.pointTables(ctx, b, a, &l)
	} else {
		needs, err = d.logitTables(ctx, b, turn, &l)
	}
	if err != nil {
		return err
	}
	if err := a.fill(stream); err != nil {
		return err
	}
	l.status = l.sums + C.bel_u64(sums)
	if kernel.any { // marks are one word of each thread for every 32 bits of the code
		needs = append(needs, need{&d.marks[turn], &l.marks, 4 * uint64(words32(b.problem.Code)) * C.BEL_THREADS})
	}
	groups, err := d.threadMemory(stream, tasks, needs)
	if err != nil {
		return err
	}
	d.describe(&l, b)
	b.started = time.Now()
	for _, k := range append(steps, step{kernel.name, groups}) {
		if err := driver.Launch(stream, d.kernels[k.kernel], int(k.groups), C.BEL_THREADS, &l); err != nil {
			return fmt.Errorf("launching %s: %w", k.kernel, err)
		}
	}
	return nil
}

// pointTables puts the error probabilities of a batch's entries, P × M, into an arena, and makes
// room for the tables. It returns the kernels that make these.
func (d *Device) pointTables(ctx context.Context, b *batch, a *arena, l *C.bel_launch) ([]step, error) {
	m, size := b.problem.Code.Bits(), sizeOf(b.problem)
	e := make([]float64, len(b.rows)*m)
	err := parallel.Each(ctx, d.workers, len(b.rows), func() (func(context.Context, int) error, error) {
		return func(_ context.Context, i int) error {
			_, err := b.problem.Row(e[i*m:(i+1)*m:(i+1)*m], int(b.rows[i]))
			return err
		}, nil
	})
	if err != nil {
		return nil, err
	}
	entries, tasks := uint64(len(b.rows)), uint64(len(b.tasks.entry))
	put(a, &l.errors, e)
	a.room(&l.base, 4*entries*size.words)
	a.room(&l.column_bits, 4*entries)
	a.room(&l.column_share, 8*entries*size.columns)
	a.room(&l.column_bit, 4*entries*size.columns)
	a.room(&l.class_count, 4*entries)
	a.room(&l.class_points, 4*entries*size.classes)
	a.room(&l.class_share, 8*entries*size.classes)
	a.room(&l.weights, 8*entries*max(size.columns, size.classes))
	a.room(&l.stack, 4*entries*size.columns)
	a.room(&l.dealt, 4*tasks*size.classes)
	l.columns, l.classes = C.bel_u32(size.columns), C.bel_u32(size.classes)
	return []step{
		{"hazards", ceil(entries*size.words, C.BEL_THREADS)},
		{"tables", ceil(entries, C.BEL_THREADS)},
		{"deal", ceil(tasks*C.BEL_WARP, C.BEL_THREADS)},
	}, d.place(a)
}

// describe sets what every kernel must know of a batch.
func (d *Device) describe(l *C.bel_launch, b *batch) {
	p := b.problem
	c := p.Code
	l.code = C.bel_u64(d.code.words.Address(0))
	l.order, l.reach = C.bel_u64(d.code.order.Address(0)), C.bel_u64(d.code.reach.Address(0))
	for i, k := range philox.NewKeys(p.Seed) {
		l.keys[i] = C.bel_u32(k)
	}
	l.levels, l.bits, l.words = C.bel_u32(c.Levels()), C.bel_u32(c.Bits()), C.bel_u32(words32(c))
	l.entries, l.tasks = C.bel_u32(len(b.rows)), C.bel_u32(len(b.tasks.entry))
	if describe := onDevice(p.Decoder).describe; describe != nil {
		describe(p.Decoder, l)
	}
}

// need is memory that every thread of a kernel has of its own: where it is kept between launches,
// where its address goes, and its size for a thread block.
type need struct {
	of       *driver.Memory
	address  *C.bel_u64
	perGroup uint64
}

// threadMemory returns the number of thread blocks of a kernel, and makes the memory that they
// need, zero when it is new.
func (d *Device) threadMemory(stream driver.Stream, tasks uint64, needs []need) (groups uint64, err error) {
	groups = tasks
	for _, n := range needs {
		groups = max(1, min(groups, uint64(groupsPerUnit*d.info.Multiprocessors), scratchBytes/max(1, n.perGroup)))
	}
	for _, n := range needs {
		if bytes := groups * n.perGroup; bytes > n.of.Bytes {
			if err := d.grow(n.of, bytes); err != nil {
				return 0, err
			}
			if err := stream.Zero(*n.of, 0, n.of.Bytes); err != nil {
				return 0, err
			}
		}
		*n.address = C.bel_u64(n.of.Address(0))
	}
	return groups, nil
}

func ceil(n, by uint64) uint64 { return (n + by - 1) / by }

// grow replaces memory by more. Nothing that runs uses it.
func (d *Device) grow(m *driver.Memory, bytes uint64) error {
	err := m.Free()
	*m = driver.Memory{}
	if err != nil {
		return err
	}
	*m, err = d.alloc(bytes + bytes/4)
	return err
}

// collect waits for a launch and adds its sums.
func (d *Device) collect(b *batch, sums []montecarlo.Sums, turn int, done func(uint64)) error {
	if err := d.streams[turn].Synchronize(); err != nil {
		return err
	}
	out := make([]uint64, C.BEL_SUMS*len(b.rows)+1)
	if err := driver.CopyOut(d.arenas[turn].memory, d.arenas[turn].sums, out); err != nil {
		return err
	}
	if uint32(out[len(out)-1]) != 0 {
		return errors.New("a law of the number of points has more classes than there is room for; please report this")
	}
	for i, row := range b.rows {
		s := out[C.BEL_SUMS*i:]
		sums[row].Add(montecarlo.Sums{
			Samples: b.samples[i], Abs: s[0], Square: s[1], Fraction: b.problem.Fraction(),
		})
	}
	done(b.total)

	// Twice as many or half as many at a time: a launch may be short because
	// there was no more work, or long because it waited for another.
	switch took := time.Since(b.started); {
	case took < launchTime/2 && b.work() >= d.pace/2:
		d.pace = min(2*d.pace, 1<<40)
	case took > 2*launchTime:
		d.pace = max(d.pace/2, firstSamples/64)
	}
	return nil
}
