// Package buildinfo says which version a program is.
package buildinfo

import (
	"runtime/debug"
	"strings"
)

// unversioned is the version of a program that was built without a name and without version
// control, as from a copy of the source or with -buildvcs=false.
const unversioned = "(unversioned build; built without version control)"

// Version is the version of a program: the name of the release, where the build gave it one, and
// the version of the module, which Go takes from tags and commits. info is nil where the program
// does not know how it was built.
func Version(name string, info *debug.BuildInfo) string {
	parts := []string{}
	if name != "" {
		parts = append(parts, name)
	}
	if info != nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		parts = append(parts, info.Main.Version)
	}
	if len(parts) == 0 {
		return unversioned
	}
	return strings.Join(parts, ", ")
}
