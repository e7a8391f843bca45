package main

import (
	"fmt"
	"slices"
	"strings"
)

// gone returns where something is that an earlier version had as a flag of a command; "" where no
// version had it.
func gone(command, flag string) string {
	for _, g := range []struct{ commands, flags, place string }{
		{"compare verify heatmap", "mae label-noise misfit cutoff training", "'belsim forecast'"},
		{"optimize", "mae label-noise misfit cutoff training", "--model FILE, with the .json of a fit"},
	} {
		if slices.Contains(strings.Fields(g.commands), command) && slices.Contains(strings.Fields(g.flags), flag) {
			return fmt.Sprintf("%s --%s is %s", command, flag, g.place)
		}
	}
	return ""
}
