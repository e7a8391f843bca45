package errmodel_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"belsim/errmodel"
	"belsim/theory/base/must"
)

// TestParseShared: a standard deviation is a normal law of whole levels, of which the variance is
// s² + 1/12 but for 10⁻⁹ (the Poisson sum of s = 2); files are histograms, and what is none is
// refused.
func TestParseShared(t *testing.T) {
	s := must.Get(errmodel.ParseShared("2"))(t).Of(64)
	sum, variance := 0.0, 0.0
	for j, w := range s.Weights {
		sum += w
		variance += w * float64(s.Offsets[j]*s.Offsets[j])
	}
	must.Near(t, "sum", 1, sum, 1e-14)
	must.Near(t, "variance", 4+1.0/12, variance, 1e-9)
	if none := must.Get(errmodel.ParseShared("0"))(t); none.Of(64) != nil || none.String() != "" {
		t.Errorf("0 levels are %+v", none)
	}
	for text, why := range map[string]string{
		"offset,weight\n-2,1\n3,3\n": "",
		"a,b\n":                      "want a header offset,weight",
		"offset,weight\n1,1\n1,1\n":  `line 3: offset "1"`,
		"offset,weight\n1,-1\n":      `line 2: weight "-1"`,
		"offset,weight\n1,0\n":       "no offset has a weight above 0",
	} {
		path := filepath.Join(t.TempDir(), "w.csv")
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		h, err := errmodel.ParseShared(path)
		if why != "" {
			must.Refused(t, err, why)
			continue
		}
		must.Succeed(t, err)
		if w := h.Of(9); w.Offsets[1] != 3 || math.Abs(w.Weights[1]-0.75) > 1e-15 {
			t.Errorf("%+v", w)
		}
	}
	must.Refuse(errmodel.ParseShared("-1"))(t, "standard deviation")
}
