package buildinfo

import (
	"runtime/debug"
	"testing"
)

// TestVersion: a build says all that it knows, each thing once.
func TestVersion(t *testing.T) {
	build := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	const commit, pseudo = "0123456789abcdef0123456789abcdef01234567", "v0.0.0-20261122060412-0123456789ab"
	vcs := []string{"vcs", "git", "vcs.revision", commit, "vcs.time", "2026-11-22T06:04:12Z", "vcs.modified"}
	clean, dirty := append(vcs[:7:7], "false"), append(vcs[:7:7], "true")
	for _, tt := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"", nil, Unversioned},
		{"", build(""), Unversioned},
		{"", build("(devel)"), Unversioned},
		{"", build(pseudo, clean...), pseudo},
		{"", build(pseudo+"+dirty", dirty...), pseudo + "+dirty"},
		{"", build("v1.2.0", clean...), "v1.2.0, commit 0123456789ab of 2026-11-22"},
		{"", build("v1.2.0"), "v1.2.0"}, // go install belsim@v1.2.0
		{"", build("(devel)", clean...), "commit 0123456789ab of 2026-11-22"},
		{"", build("(devel)", dirty...), "commit 0123456789ab of 2026-11-22, with changes"},
		{"1.2.0", nil, "1.2.0"},
		{"1.2.0", build("(devel)"), "1.2.0"},
		{"1.2.0", build(pseudo+"+dirty", dirty...), "1.2.0, commit 0123456789ab of 2026-11-22, with changes"},
	} {
		if got := Version(tt.name, tt.info); got != tt.want {
			t.Errorf("%q, %+v: %q, want %q", tt.name, tt.info, got, tt.want)
		}
	}
}
