package forecast

import (
	"strings"
	"testing"

	"belsim/theory/code"
)

// TestHeadsAreNoNames: a code from a file cannot have the name of a head, which would be read as it.
func TestHeadsAreNoNames(t *testing.T) {
	for _, h := range heads {
		if _, err := code.Open(h.Name+"=c.csv", 0); err == nil || !strings.Contains(err.Error(), "your own") {
			t.Errorf("%s=FILE: error %v", h.Name, err)
		}
	}
}
