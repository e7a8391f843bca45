//go:build linux && cgo

package gpu

// #include "kernel.h"
import "C"

import (
	"context"
	"errors"
	"unsafe"

	"belsim/gpu/internal/driver"
	"belsim/montecarlo"
	"belsim/montecarlo/tables"
	"belsim/theory/base/parallel"
)

// maxLatentEntries bounds the entries of a launch of logits: the host makes the tables of each.
const maxLatentEntries = 4096

// latentBytes returns about the most bytes that the tables of an entry take: see
// tables.Logits. Of the steps between candidates there are at most as many as all levels have.
func latentBytes(p *montecarlo.Problem) uint64 {
	c := p.Code
	return (18+8*tables.Digits)*uint64(c.Bits()) + 32*uint64(c.Levels()) + 4*uint64(c.TransitionCount()) +
		uint64(unsafe.Sizeof(C.bel_latent{})) + latentArrayCount*latentAlign
}

// gatherLogits makes the tables of the entries of a batch.
func (d *Device) gatherLogits(ctx context.Context, b *batch) ([]*tables.Logits, error) {
	logits := make([]*tables.Logits, len(b.rows))
	return logits, parallel.Each(ctx, d.workers, len(b.rows), func() (func(context.Context, int) error, error) {
		maker := b.problem.LogitTables()
		return func(ctx context.Context, i int) (err error) {
			logits[i], err = maker.Row(ctx, int(b.rows[i]))
			return err
		}, nil
	})
}

// latentArrays are the arrays of the entries of a launch, one after the other.
type latentArrays struct {
	entries   []C.bel_latent
	addresses []*C.bel_u64 // of the arrays: offsets until rebase
	slots     int          // of the memory that a thread has of its own, at least 1
	all       []byte
}

// latentAlign is the alignment of each array, for any type, and latentArrayCount how many an entry
// has.
const (
	latentAlign      = 8
	latentArrayCount = 17
)

// add appends an array, and sets its address to how many bytes come before it.
func add[T any](f *latentArrays, address *C.bel_u64, x []T) {
	var one T
	f.all = append(f.all, make([]byte, -len(f.all)&(latentAlign-1))...)
	*address = C.bel_u64(len(f.all))
	f.addresses = append(f.addresses, address)
	f.all = append(f.all, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))...)
}

// newLatentArrays joins the arrays of all entries.
func newLatentArrays(logits []*tables.Logits) *latentArrays {
	f := &latentArrays{entries: make([]C.bel_latent, len(logits)), slots: 1}
	run := func(to *C.bel_run, r tables.RunningSum) {
		add(f, &to.starts, r.Starts)
		add(f, &to.steps, r.Steps)
		add(f, &to.fixed, r.Fixed)
	}
	for i, p := range logits {
		var wrong, planes []uint64
		if p.Flips != nil {
			wrong = p.Wrong
			for _, digits := range p.Planes {
				planes = append(planes, digits[:]...)
			}
		}
		e := &f.entries[i]
		add(f, &e.planes, planes)
		add(f, &e.wrong, wrong)
		add(f, &e.bits, p.Bits)
		add(f, &e.centers, p.Centers)
		add(f, &e.levels, p.Levels)
		run(&e.run, p.RunningSum)
		e.limit, e.scale = C.longlong(p.Limit), C.float(p.Scale)
		e.drawn, e.candidates = C.bel_u32(len(p.Bits)), C.bel_u32(len(p.Levels))
		need := len(p.Bits)
		if p.Flips != nil {
			need *= 2
		}
		if q := p.Product; q != nil {
			n := len(q.Suffixes.Fixed)
			run(&e.prefix, q.Prefixes)
			run(&e.suffix, q.Suffixes)
			add(f, &e.offsets, q.Offsets)
			add(f, &e.pattern_of, q.PatternOf)
			add(f, &e.patterns, q.Patterns)
			e.prefixes, e.suffixes, e.kinds = C.bel_u32(len(q.Offsets)), C.bel_u32(n), C.bel_u32(len(q.Patterns)/n)
			need += n + len(q.Patterns)/n
		}
		f.slots = max(f.slots, need)
	}
	return f
}

// rebase turns the offsets of all arrays into addresses.
func (f *latentArrays) rebase(base C.bel_u64) {
	for _, a := range f.addresses {
		*a += base
	}
}

// logitTables makes the tables of a batch of logits and puts them into an arena. It returns the
// memory that threads need.
func (d *Device) logitTables(ctx context.Context, b *batch, turn int, l *C.bel_launch) ([]need, error) {
	logits, err := d.gatherLogits(ctx, b)
	if err != nil {
		return nil, err
	}
	a, f := &d.arenas[turn], newLatentArrays(logits)
	var base C.bel_u64
	put(a, &l.latent, f.entries)
	put(a, &base, f.all)
	if err := d.place(a); err != nil {
		return nil, err
	}
	f.rebase(base)
	if err := d.loadNormal(); err != nil {
		return nil, err
	}
	l.normal = C.bel_u64(d.normal.Address(0))
	if b.problem.Kind.Hard() {
		l.hard = 1
	}
	l.fraction = C.bel_u32(b.problem.Fraction())
	return []need{{&d.logits[turn], &l.logits, 16 * uint64(f.slots) * C.BEL_THREADS}}, nil
}

// loadNormal puts the table of normal numbers on the device, once.
func (d *Device) loadNormal() error {
	if d.normal.Bytes > 0 {
		return nil
	}
	var table []float32
	for _, row := range tables.Normals {
		table = append(table, row[:]...)
	}
	m, err := d.alloc(4 * uint64(len(table)))
	if err != nil {
		return err
	}
	if err = driver.CopyIn(d.streams[0], m, 0, table); err == nil {
		err = d.streams[0].Synchronize() // the other stream reads it too
	}
	if err != nil {
		return errors.Join(err, m.Free())
	}
	d.normal = m
	return nil
}
