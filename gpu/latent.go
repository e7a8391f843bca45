//go:build linux && cgo

package gpu

// #include "kernel.h"
import "C"

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"belsim/gpu/internal/driver"
	"belsim/montecarlo"
	"belsim/montecarlo/tables"
)

// maxLatentPlans bounds the plans of a launch of logits: each is made by the host.
const maxLatentPlans = 4096

// gatherLatent makes the plans of a batch.
func gatherLatent(ctx context.Context, workers int, jobs []montecarlo.Job, b *batch) ([]*tables.Logits, error) {
	plans := make([]*tables.Logits, len(b.plans))
	return plans, eachPlan(ctx, workers, b, func(first, last int) error {
		var maker *tables.LogitMaker
		for i := first; i < last; i++ {
			ref := b.plans[i]
			if i == first || ref.job != b.plans[i-1].job {
				maker = jobs[ref.job].Problem.LogitTables()
			}
			var err error
			if plans[i], err = maker.Row(ref.row); err != nil {
				return err
			}
		}
		return nil
	})
}

// flat collects arrays of one type.
type flat[T any] struct{ all []T }

// add appends an array and returns how many bytes come before it.
func (f *flat[T]) add(x []T) C.bel_u64 {
	at := f.bytes()
	f.all = append(f.all, x...)
	return C.bel_u64(at)
}

func (f *flat[T]) bytes() uint64 {
	var one T
	return uint64(len(f.all)) * uint64(unsafe.Sizeof(one))
}

// launchLatent queues everything that a batch of logits needs on a stream.
func (d *Device) launchLatent(b *batch, plans []*tables.Logits, kernel placing, turn int) error {
	stream, arena := d.streams[turn], &d.arenas[turn]
	var short flat[uint16]
	var slopes flat[int8]
	var whole flat[int32]
	var steps flat[uint32]
	var fixed flat[int64]
	var offsets flat[float32]
	latent := make([]C.bel_latent, len(plans))
	slots := 1
	run := func(r tables.RunningSum) C.bel_run { // offsets for now; addresses below
		return C.bel_run{starts: steps.add(r.Starts), steps: steps.add(r.Steps), fixed: fixed.add(r.Fixed)}
	}
	for i, p := range plans {
		var centers []int32
		for _, c := range p.Centers {
			centers = append(centers, c...)
		}
		latent[i] = C.bel_latent{
			bits: short.add(p.Bits), slopes: slopes.add(p.Slopes), centers: whole.add(centers),
			levels: short.add(p.Levels), run: run(p.RunningSum), values: whole.add(p.Values),
			limit: C.longlong(p.Limit), scale: C.float(p.Scale),
			drawn: C.bel_u32(len(p.Bits)), candidates: C.bel_u32(len(p.Levels)), parts: C.bel_u32(len(p.Centers)),
		}
		need := len(p.Bits)
		if q := p.Product; q != nil {
			n := len(q.Suffixes.Fixed)
			latent[i].prefix, latent[i].suffix = run(q.Prefixes), run(q.Suffixes)
			latent[i].offsets, latent[i].pattern_of, latent[i].patterns = offsets.add(q.Offsets), short.add(q.PatternOf), short.add(q.Patterns)
			latent[i].prefixes, latent[i].suffixes, latent[i].kinds = C.bel_u32(len(q.Offsets)), C.bel_u32(n), C.bel_u32(len(q.Patterns)/n)
			need += n + len(q.Patterns)/n
		}
		slots = max(slots, need)
	}

	var l C.bel_launch
	var parts cuts
	arena.used = 0
	n, tasks := uint64(len(plans)), uint64(len(b.tasks.plan))
	rowAt := parts.add(arena, &l.row, 4*n)
	planAt := parts.add(arena, &l.task_plan, 4*tasks)
	blockAt := parts.add(arena, &l.task_block, 4*tasks)
	samplesAt := parts.add(arena, &l.task_samples, 4*tasks)
	arena.sums = parts.add(arena, &l.sums, 8*C.BEL_SUMS*n+8)
	latentAt := parts.add(arena, &l.latent, n*uint64(unsafe.Sizeof(C.bel_latent{})))
	var base [6]C.bel_u64 // addresses of the flat arrays
	at := [6]uint64{
		parts.add(arena, &base[0], short.bytes()), parts.add(arena, &base[1], slopes.bytes()),
		parts.add(arena, &base[2], whole.bytes()), parts.add(arena, &base[3], steps.bytes()),
		parts.add(arena, &base[4], fixed.bytes()), parts.add(arena, &base[5], offsets.bytes()),
	}
	if err := d.place(arena, parts); err != nil {
		return err
	}
	move := func(r *C.bel_run) {
		r.starts += base[3]
		r.steps += base[3]
		r.fixed += base[4]
	}
	for i := range latent {
		p := &latent[i]
		for _, short := range []*C.bel_u64{&p.bits, &p.levels, &p.pattern_of, &p.patterns} {
			*short += base[0]
		}
		p.slopes += base[1]
		p.centers += base[2]
		p.values += base[2]
		if !b.shape.code.Real() {
			p.values = 0 // which says so
		}
		p.offsets += base[5]
		move(&p.run)
		move(&p.prefix)
		move(&p.suffix)
	}
	for _, err := range []error{
		driver.CopyIn(stream, arena.memory, rowAt, b.rows()),
		driver.CopyIn(stream, arena.memory, planAt, b.tasks.plan),
		driver.CopyIn(stream, arena.memory, blockAt, b.tasks.block),
		driver.CopyIn(stream, arena.memory, samplesAt, b.tasks.samples),
		driver.CopyIn(stream, arena.memory, latentAt, latent),
		driver.CopyIn(stream, arena.memory, at[0], short.all),
		driver.CopyIn(stream, arena.memory, at[1], slopes.all),
		driver.CopyIn(stream, arena.memory, at[2], whole.all),
		driver.CopyIn(stream, arena.memory, at[3], steps.all),
		driver.CopyIn(stream, arena.memory, at[4], fixed.all),
		driver.CopyIn(stream, arena.memory, at[5], offsets.all),
		stream.Zero(arena.memory, arena.sums, 8*C.BEL_SUMS*n+8),
	} {
		if err != nil {
			return err
		}
	}
	if err := d.loadNormal(); err != nil {
		return err
	}
	l.normal = C.bel_u64(d.normal.Address(0))

	perGroup := 16 * uint64(slots) * C.BEL_THREADS
	marks := 4 * uint64(words32(b.shape.code)) * C.BEL_THREADS
	groups := d.gridFor(tasks, perGroup)
	if kernel.any {
		groups = min(groups, d.gridFor(tasks, marks))
		if err := d.scratch(&d.marks[turn], stream, groups*marks); err != nil {
			return err
		}
		l.marks = C.bel_u64(d.marks[turn].Address(0))
	}
	if err := d.scratch(&d.logits[turn], stream, groups*perGroup); err != nil {
		return err
	}
	l.logits = C.bel_u64(d.logits[turn].Address(0))
	d.describe(&l, b)
	if s := b.shape.latent.shared; s > 0 {
		common, own := tables.SharedNoise(s)
		l.common, l.own = C.longlong(common), C.longlong(own)
	}
	if b.shape.latent.hard {
		l.hard = 1
	}
	l.fraction = C.bel_u32(b.shape.latent.fraction)

	b.started = time.Now()
	return d.queue(stream, kernel.name, groups, &l)
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
