package forecast

import (
	"slices"
	"strings"

	"belsim/theory/code"
)

// ConstantColumns is advice for those of the codes that have bits which never change, as a
// sentence; "" where there are none.
func ConstantColumns(codes []*code.Code) string {
	var names []string
	for _, c := range codes {
		if slices.ContainsFunc(c.Transitions(), func(at []int) bool { return len(at) == 0 }) &&
			!slices.Contains(names, c.Name()) {
			names = append(names, c.Name())
		}
	}
	verb := " has"
	switch n := len(names); {
	case n == 0:
		return ""
	case n > 1:
		verb, names = " have", append(names[:n-2:n-2], names[n-2]+" and "+names[n-1])
	}
	return strings.Join(names, ", ") + verb +
		" columns that never change: leave these out before you train, because they take a part of a small bottleneck."
}
