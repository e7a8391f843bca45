package buildinfo

import (
	"runtime/debug"
	"testing"
)

// TestVersion: a build says all that it knows.
func TestVersion(t *testing.T) {
	build := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}}
	}
	const pseudo = "v0.0.0-20261122060412-0123456789ab+dirty"
	for _, tt := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"", nil, unversioned},
		{"", build(""), unversioned},
		{"", build("(devel)"), unversioned},
		{"", build(pseudo), pseudo},
		{"", build("v1.2.0"), "v1.2.0"}, // go install belsim@v1.2.0
		{"1.2.0", nil, "1.2.0"},
		{"1.2.0", build("(devel)"), "1.2.0"},
		{"1.2.0", build(pseudo), "1.2.0, " + pseudo},
	} {
		if got := version(tt.name, tt.info); got != tt.want {
			t.Errorf("%q, %+v: %q, want %q", tt.name, tt.info, got, tt.want)
		}
	}
}
