package tables

import (
	"context"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestCache: tables are made once where they fit, again elsewhere, and are the same.
func TestCache(t *testing.T) {
	c := must.Get(code.New("unary", 8))(t)
	e := mat.NewDense(8, 7, nil)
	e.Apply(func(i, k int, _ float64) float64 { return 0.4 / float64(1+i+k) }, e)
	model := Model{Code: c, Kind: DenseBits, Errors: e, Correlates: true}
	rows := func(kept *Cache) (out [2][]*Logits) {
		model.Cache = kept
		for turn := range out {
			l := NewLogitMaker(model) // another worker
			for i := range 8 {
				out[turn] = append(out[turn], must.Get(l.Row(context.Background(), i))(t))
			}
		}
		return out
	}
	want := rows(nil)[0]
	one := want[0].bytes()
	if least := len(want[0].Planes) * 8 * Digits; one < least || one > 1<<12 {
		t.Errorf("the tables of a row have %d bytes; want more than the %d of planes, and few", one, least)
	}
	for _, room := range []int{0, 3 * one, 1 << 20} {
		got, kept := rows(NewCache(room)), 0
		for i := range want {
			if got[0][i] == got[1][i] {
				kept++
			}
			if !reflect.DeepEqual(got[1][i], want[i]) {
				t.Errorf("%d bytes, row %d: other tables", room, i)
			}
		}
		if most := min(room/one, 8); kept != most {
			t.Errorf("%d bytes keep %d rows; want %d", room, kept, most)
		}
	}
}

// TestSharedSteps: rows that draw the same bits share their steps, and are what another maker makes
// of them alone.
func TestSharedSteps(t *testing.T) {
	c := must.Get(code.New("unary", 8))(t)
	e := mat.NewDense(8, 7, nil)
	e.Apply(func(i, k int, _ float64) float64 {
		if k == i/3 {
			return 0 // is not drawn
		}
		return 0.1
	}, e)
	model := Model{Code: c, Kind: DenseBits, Errors: e, Correlates: true}
	l := NewLogitMaker(model)
	var before *Logits
	for i := range 8 {
		got, want := must.Get(l.Row(context.Background(),
			i))(t), must.Get(NewLogitMaker(model).Row(context.Background(), i))(t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("row %d: %v, want %v", i, got.RunningSum, want.RunningSum)
		}
		if shared := i > 0 && &got.Steps[0] == &before.Steps[0]; shared != (i%3 > 0) {
			t.Errorf("row %d shares its steps: %v", i, shared)
		}
		before = got
	}
}
