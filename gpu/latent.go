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
)

// maxLatentPlans bounds the plans of a launch of logits: each is made by the host.
const maxLatentPlans = 4096

// gatherLatent makes the plans of a batch.
func gatherLatent(ctx context.Context, jobs []montecarlo.Job, b *batch) ([]*montecarlo.LatentPlan, error) {
	plans := make([]*montecarlo.LatentPlan, len(b.plans))
	return plans, eachPlan(ctx, b, func(first, last int) error {
		var planner *montecarlo.LatentPlanner
		for i := first; i < last; i++ {
			ref := b.plans[i]
			if i == first || ref.job != b.plans[i-1].job {
				planner = montecarlo.NewLatentPlanner(jobs[ref.job].Problem)
			}
			var err error
			if plans[i], err = planner.Plan(ref.row); err != nil {
				return err
			}
		}
		return nil
	})
}

// flat collects arrays of one type; the offsets are those of each array in all.
type flat[T any] struct {
	all     []T
	offsets []uint64
}

func (f *flat[T]) add(x []T) {
	f.offsets = append(f.offsets, uint64(len(f.all)))
	f.all = append(f.all, x...)
}

// launchLatent queues everything that a batch of logits needs on a stream.
func (d *Device) launchLatent(b *batch, plans []*montecarlo.LatentPlan, kernel placing, turn int) error {
	stream, arena := d.streams[turn], &d.arenas[turn]
	var bits, levels flat[uint16]
	var slopes flat[int8]
	var centers, values flat[int32]
	var starts, steps flat[uint32]
	var fixed flat[int64]
	latent := make([]C.bel_latent, len(plans))
	drawn := 1
	for i, p := range plans {
		bits.add(p.Bits)
		slopes.add(p.Slopes)
		levels.add(p.Levels)
		starts.add(p.Starts)
		steps.add(p.Steps)
		fixed.add(p.Fixed)
		values.add(p.Values)
		var all []int32
		for _, c := range p.Centers {
			all = append(all, c...)
		}
		centers.add(all)
		drawn = max(drawn, len(p.Bits))
		latent[i] = C.bel_latent{
			limit: C.longlong(p.Limit), scale: C.float(p.Scale),
			drawn: C.bel_u32(len(p.Bits)), candidates: C.bel_u32(len(p.Levels)), parts: C.bel_u32(len(p.Centers)),
		}
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
	var base [8]C.bel_u64 // addresses of the flat arrays
	at := [8]uint64{
		parts.add(arena, &base[0], 2*uint64(len(bits.all))),
		parts.add(arena, &base[1], uint64(len(slopes.all))),
		parts.add(arena, &base[2], 4*uint64(len(centers.all))),
		parts.add(arena, &base[3], 2*uint64(len(levels.all))),
		parts.add(arena, &base[4], 4*uint64(len(starts.all))),
		parts.add(arena, &base[5], 4*uint64(len(steps.all))),
		parts.add(arena, &base[6], 8*uint64(len(fixed.all))),
		parts.add(arena, &base[7], 4*uint64(len(values.all))),
	}
	if err := d.place(arena, parts); err != nil {
		return err
	}
	for i := range latent {
		p := &latent[i]
		p.bits = base[0] + C.bel_u64(2*bits.offsets[i])
		p.slopes = base[1] + C.bel_u64(slopes.offsets[i])
		p.centers = base[2] + C.bel_u64(4*centers.offsets[i])
		p.levels = base[3] + C.bel_u64(2*levels.offsets[i])
		p.starts = base[4] + C.bel_u64(4*starts.offsets[i])
		p.steps = base[5] + C.bel_u64(4*steps.offsets[i])
		p.fixed = base[6] + C.bel_u64(8*fixed.offsets[i])
		if b.shape.code.Real() {
			p.values = base[7] + C.bel_u64(4*values.offsets[i])
		}
	}
	for _, err := range []error{
		driver.CopyIn(stream, arena.memory, rowAt, b.rows()),
		driver.CopyIn(stream, arena.memory, planAt, b.tasks.plan),
		driver.CopyIn(stream, arena.memory, blockAt, b.tasks.block),
		driver.CopyIn(stream, arena.memory, samplesAt, b.tasks.samples),
		driver.CopyIn(stream, arena.memory, latentAt, latent),
		driver.CopyIn(stream, arena.memory, at[0], bits.all),
		driver.CopyIn(stream, arena.memory, at[1], slopes.all),
		driver.CopyIn(stream, arena.memory, at[2], centers.all),
		driver.CopyIn(stream, arena.memory, at[3], levels.all),
		driver.CopyIn(stream, arena.memory, at[4], starts.all),
		driver.CopyIn(stream, arena.memory, at[5], steps.all),
		driver.CopyIn(stream, arena.memory, at[6], fixed.all),
		driver.CopyIn(stream, arena.memory, at[7], values.all),
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

	perGroup := 16 * uint64(drawn) * C.BEL_THREADS
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
		common, own := (&montecarlo.Latent{Shared: s}).SharedNoise()
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
	for _, row := range montecarlo.Normals() {
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
