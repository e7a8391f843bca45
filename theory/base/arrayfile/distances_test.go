package arrayfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDistances: the first row 0, 1, 2 of a matrix of distances is a row, and above any other matrix
// the names that pandas gives.
func TestDistances(t *testing.T) {
	for text, want := range map[string]int{
		"0,1,2\n1,0,1\n2,1,0\n":           3,
		"0,1,2\n2,0,1\n9,3,0\n":           3,
		"0,1,2\n1,0,1\n":                  0,
		"0,1,2\n0,1,1\n1,0,1\n":           0,
		"0,1,2\n0,1,2\n1,0,1\n2,1,0\n":    0,
		"0,1,2\n1,0,1\n2,1,0\n1,1,1\n":    0,
		"1,2,3\n0,1,2\n1,0,1\n2,1,0\n":    0,
		"0,1,2\n0,.1,2.\n1.,0,1.\n.5,1,0": 0,
	} {
		path := filepath.Join(t.TempDir(), "costs.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadFile(path)
		if (err == nil) != (want > 0) {
			t.Errorf("%q: %v", text, err)
		} else if want > 0 && (m.RawMatrix().Rows != want || m.At(0, 2) != 2) {
			t.Errorf("%q: read as %v", text, m)
		}
	}
}
