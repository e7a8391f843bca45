package gpu

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"belsim/montecarlo/tables"
	"belsim/theory/base/must"
)

// TestDecay: the kernels' polynomial for 2^−t has the coefficients of tables.Decay, the
// last first, as Horner's scheme takes them.
func TestDecay(t *testing.T) {
	source := must.Get(os.ReadFile("kernel.cu"))(t)
	_, function, ok := strings.Cut(string(source), "float decay(float t) {")
	if !ok {
		t.Fatal("kernel.cu has no function decay")
	}
	function, _, _ = strings.Cut(function, "\n}")
	numbers := regexp.MustCompile(`-?\d+\.\d+f`).FindAllString(function, -1)
	if len(numbers) != len(tables.Decay) {
		t.Fatalf("decay has the coefficients %v, want %d of them", numbers, len(tables.Decay))
	}
	for i, s := range numbers {
		want := tables.Decay[len(tables.Decay)-1-i]
		got, err := strconv.ParseFloat(strings.TrimSuffix(s, "f"), 32)
		if err != nil || float32(got) != want {
			t.Errorf("coefficient %s, want %v (%v)", s, want, err)
		}
	}
}
