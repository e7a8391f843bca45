package search

import (
	"slices"
	"strings"
	"testing"
)

func TestBitCounts(t *testing.T) {
	for text, want := range map[string][]int{"12": {12}, "6,8": {6, 8}, "4:8:3": {4, 6, 8}, "4:5:4": {4, 5},
		"2:32:5:log": {2, 4, 8, 16, 32}} {
		var b BitCounts
		if err := b.UnmarshalText([]byte(text)); err != nil || !slices.Equal(b, want) {
			t.Errorf("%s: %v, %v; want %v", text, b, err, want)
		}
	}
	for text, want := range map[string]string{"some": "want lo:hi:count", "12.5": "want a whole number of bits",
		"1:2": "want lo:hi:count", "4:2:2": "want lo below hi"} {
		var b BitCounts
		if err := b.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

// TestDefaultBits: from the fewest bits to as many as levels, with those of named codes.
func TestDefaultBits(t *testing.T) {
	if got := DefaultBits(2); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("2 levels: %v", got)
	}
	got := DefaultBits(64)
	if got[0] != 6 || got[len(got)-1] != 64 || !slices.IsSorted(got) ||
		len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("64 levels: %v", got)
	}
	for _, m := range []int{10, 16, 17, 32, 63} { // B2JDJ, HEXJ, B1JDJ, Johnson, unary
		if !slices.Contains(got, m) {
			t.Errorf("64 levels: %v, without %d", got, m)
		}
	}
}
