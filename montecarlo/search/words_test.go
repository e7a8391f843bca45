package search

import "testing"

// TestCompared: an error that is larger is above, without a minus sign.
func TestCompared(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{compared(0.75), "0.75 % below"}, {compared(-0.11), "0.11 % above"}, {compared(0), "0.00 % below"},
		{spanned(0.1, 1.4), "0.10 to 1.40 %"}, {spanned(-0.4, -0.1), "0.10 to 0.40 %"}, {spanned(-0.4, 0.1), "0.40 % above to 0.10 % below"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
