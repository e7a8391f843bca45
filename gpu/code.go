//go:build linux && cgo

package gpu

import (
	"context"
	"errors"
	"fmt"

	"belsim/gpu/internal/driver"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
)

// codeMemory is a code on the device. It stays until another code comes: the
// cells of a map share theirs.
type codeMemory struct {
	of           *code.Code
	ordered      bool // order and reach are there, which gen needs
	words        driver.Memory
	order, reach driver.Memory
}

func (m *codeMemory) free() error {
	err := errors.Join(m.words.Free(), m.order.Free(), m.reach.Free())
	*m = codeMemory{}
	return err
}

// words32 is the number of 32-bit words of a code word.
func words32(c *code.Code) int { return (c.Bits() + 31) / 32 }

// load puts a code on the device, unless it is there.
func (d *Device) load(ctx context.Context, c *code.Code, ordered bool) error {
	m := &d.code
	if m.of != c {
		if err := m.free(); err != nil {
			return err
		}
		words := make([]uint32, 0, c.Levels()*words32(c))
		for i := range c.Levels() {
			words = append(words, split(c.Word(i), words32(c))...)
		}
		var err error
		if m.words, err = d.alloc(4 * uint64(len(words))); err != nil {
			return err
		}
		if err := driver.CopyIn(d.streams[0], m.words, 0, words); err != nil {
			return err
		}
		m.of = c
	}
	if ordered && !m.ordered {
		if err := d.order(ctx, c); err != nil {
			return err
		}
		m.ordered = true
	}
	return d.streams[0].Synchronize() // the other stream reads it too
}

// split is a code word in words of 32 bits, the low ones first.
func split(word []uint64, n int) []uint32 {
	out := make([]uint32, 0, 2*len(word))
	for _, w := range word {
		out = append(out, uint32(w), uint32(w>>32))
	}
	return out[:n]
}

// alloc is Context.Alloc, with an error that says how much was wanted.
func (d *Device) alloc(bytes uint64) (driver.Memory, error) {
	m, err := d.context.Alloc(bytes)
	if err != nil {
		return m, fmt.Errorf("allocating %.1f MiB: %w", float64(bytes)/(1<<20), err)
	}
	return m, nil
}

// orderRows is how many rows are ordered at a time.
const orderRows = 256

// order makes, for every row, the list of all rows by distance from it and the number of rows
// up to each distance: see sparseGen in package montecarlo. They grow with L², so the device's
// free memory is checked first.
func (d *Device) order(ctx context.Context, c *code.Code) error {
	levels, reaches := c.Levels(), c.Bits()+2
	orderBytes, reachBytes := 2*uint64(levels)*uint64(levels), 4*uint64(levels)*uint64(reaches)
	free, err := d.context.FreeMemory()
	if err != nil {
		return err
	}
	if orderBytes+reachBytes > free/2 {
		return fmt.Errorf(
			"gen on %s of %d levels needs %.1f GiB of the device's memory, half of the free %.1f GiB may be used",
			c.Name(), levels, float64(orderBytes+reachBytes)/(1<<30), float64(free)/(1<<30))
	}
	m := &d.code
	if err := errors.Join(m.order.Free(), m.reach.Free()); err != nil { // of a call that was cut short
		return err
	}
	m.order, m.reach = driver.Memory{}, driver.Memory{}
	if m.order, err = d.alloc(orderBytes); err != nil {
		return err
	}
	if m.reach, err = d.alloc(reachBytes); err != nil {
		return err
	}
	order, reach := make([]uint16, orderRows*levels), make([]uint32, orderRows*reaches)
	for first := 0; first < levels; first += orderRows {
		n := min(orderRows, levels-first)
		err := parallel.Each(ctx, d.workers, n, func() (func(context.Context, int) error, error) {
			distances := make([]int32, levels)
			return func(_ context.Context, i int) error {
				c.Distances(distances, first+i)
				code.OrderByDistance(order[i*levels:(i+1)*levels], reach[i*reaches:(i+1)*reaches], distances)
				return nil
			}, nil
		})
		if err != nil {
			return err
		}
		if err := driver.CopyIn(d.streams[0], m.order, 2*uint64(first)*uint64(levels), order[:n*levels]); err != nil {
			return err
		}
		if err := driver.CopyIn(d.streams[0], m.reach, 4*uint64(first)*uint64(reaches), reach[:n*reaches]); err != nil {
			return err
		}
	}
	return nil
}
