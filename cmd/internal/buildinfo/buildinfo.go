// Package buildinfo says which version a program is.
package buildinfo

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// unversioned is the version of a program that was built without a name and without version
// control, as from a copy of the source or with -buildvcs=false.
const unversioned = "(unversioned build; built without version control)"

// Version is the version of this program: the name of the release, where the build gave it one, and
// the version of the module, which Go takes from tags and commits.
func Version(name string) string {
	info, _ := debug.ReadBuildInfo() // nil where there is none
	return version(name, info)
}

func version(name string, info *debug.BuildInfo) string {
	if info != nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		name = strings.TrimPrefix(name+", "+info.Main.Version, ", ")
	}
	return cmp.Or(name, unversioned)
}
