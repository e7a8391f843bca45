package tables

import "sync"

// Cache keeps the tables of rows that are sampled more than once, as many as fit its memory: the
// first that are made. Any number of LogitMakers of one model may share it. Nil keeps nothing.
type Cache struct {
	mu   sync.Mutex
	left int // bytes
	rows map[int]*Logits
}

// NewCache keeps up to about so many bytes of tables.
func NewCache(bytes int) *Cache { return &Cache{left: bytes, rows: map[int]*Logits{}} }

// row returns the tables of a row; nil where they are not kept.
func (k *Cache) row(i int) *Logits {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rows[i]
}

// keep keeps the tables of a row where they fit.
func (k *Cache) keep(t *Logits) {
	if k == nil {
		return
	}
	size := t.bytes()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows[t.Row] == nil && size <= k.left {
		k.rows[t.Row] = t
		k.left -= size
	}
}

// bytes is about the memory of the tables.
func (t *Logits) bytes() int {
	size := (4*len(t.Centers)+10)*len(t.Bits) + 14*len(t.Levels) + 4*(len(t.Steps)+len(t.Values))
	if t.Flips != nil {
		size += 8 * (len(t.Wrong) + Digits) * len(t.Bits)
	}
	if t.Affine != nil {
		size += 4 * len(t.Affine.Factors)
	}
	return size
}
