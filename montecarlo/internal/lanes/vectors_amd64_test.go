//go:build !purego

package lanes

import (
	"testing"

	"belsim/theory/base/processor"
)

// vectors calls f with the routines for AVX2, then with those for AVX-512. Those that the processor
// does not have are not tested, and said so.
func vectors(t *testing.T, f func(set string)) {
	if !processor.Vectors {
		t.Skip("the processor has no AVX2")
	}
	wide := processor.Wide
	defer func() { processor.Wide = wide }()
	processor.Wide = false
	f("AVX2")
	if !wide {
		t.Skip("the processor has no AVX-512: only AVX2 is tested")
	}
	processor.Wide = true
	f("AVX-512")
}
