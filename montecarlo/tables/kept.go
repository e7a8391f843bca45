package tables

import (
	"reflect"
	"sync"
)

// Kept are the tables of rows that are sampled more than once, as many as fit its memory: the first that
// are made. Any number of LogitMakers of one model may share it. Nil keeps nothing.
type Kept struct {
	mu   sync.Mutex
	left int // bytes
	rows map[int]*Logits
}

// NewKept keeps up to about so many bytes of tables.
func NewKept(bytes int) *Kept { return &Kept{left: bytes, rows: map[int]*Logits{}} }

// row returns the tables of a row; nil where they are not kept.
func (k *Kept) row(i int) *Logits {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rows[i]
}

// keep keeps the tables of a row where they fit.
func (k *Kept) keep(t *Logits) {
	if k == nil {
		return
	}
	size := sizeOf(reflect.ValueOf(t))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows[t.Row] == nil && size <= k.left {
		k.rows[t.Row] = t
		k.left -= size
	}
}

// sizeOf is the memory of the slices that a value leads to, in bytes.
func sizeOf(v reflect.Value) int {
	size := 0
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			size = int(v.Type().Elem().Size()) + sizeOf(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += sizeOf(v.Field(i))
		}
	case reflect.Slice:
		size = v.Cap() * int(v.Type().Elem().Size())
		for i := 0; v.Type().Elem().Kind() == reflect.Slice && i < v.Len(); i++ {
			size += sizeOf(v.Index(i))
		}
	}
	return size
}
