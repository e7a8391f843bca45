package tables

import (
	"context"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/must"
	"belsim/theory/code"
)

// TestKept: tables are made once where they fit, again elsewhere, and are the same.
func TestKept(t *testing.T) {
	c := must.Get(code.New("unary", 8))(t)
	e := mat.NewDense(8, 7, nil)
	e.Apply(func(i, k int, _ float64) float64 { return 0.4 / float64(1+i+k) }, e)
	model := Model{Code: c, Kind: DenseBits, Errors: e, Correlates: true}
	rows := func(kept *Kept) (out [2][]*Logits) {
		model.Kept = kept
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
		got, kept := rows(NewKept(room)), 0
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
