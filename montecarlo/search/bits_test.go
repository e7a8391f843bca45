package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"belsim/theory/base/must"
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

// TestDefaultBits: from the fewest bits to as many as levels, with those of named codes: 10 of b2jdj,
// 16 of hexj, 17 of b1jdj, 32 of johnson and 63 of unary.
func TestDefaultBits(t *testing.T) {
	for levels, want := range map[int]BitCounts{2: {1, 2},
		64: {6, 7, 9, 10, 11, 14, 16, 17, 18, 22, 27, 32, 33, 34, 42, 52, 63, 64}} {
		must.Equal(t, fmt.Sprint(levels, " levels"), want, defaultBits(levels))
	}
}
