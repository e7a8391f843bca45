// Package buildinfo says in words which version a program is.
package buildinfo

import (
	"runtime/debug"
	"strings"
)

// Unversioned is the version of a program that was built without a name and without version
// control, as from a copy of the source or with -buildvcs=false.
const Unversioned = "(unversioned build; built without version control)"

// Version is the version of a program: the name of the release, where the build gave it one, else
// the version of the module, which Go takes from tags and commits. A commit that neither contains
// is named beside it. info is nil where the program does not know how it was built.
func Version(name string, info *debug.BuildInfo) string {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if v := info.Main.Version; name == "" && v != "(devel)" {
		name = v
	}
	parts := []string{}
	if name != "" {
		parts = append(parts, name)
	}
	// Go's version of a commit without a tag ends in twelve digits of the commit, and in +dirty
	// where files were changed.
	commit := settings["vcs.revision"]
	short := commit[:min(12, len(commit))]
	if commit != "" && !strings.Contains(name, short) {
		text := "commit " + short
		if day, _, ok := strings.Cut(settings["vcs.time"], "T"); ok {
			text += " of " + day
		}
		parts = append(parts, text)
	}
	if settings["vcs.modified"] == "true" && !strings.HasSuffix(name, "+dirty") {
		parts = append(parts, "with changes")
	}
	if len(parts) == 0 {
		return Unversioned
	}
	return strings.Join(parts, ", ")
}
