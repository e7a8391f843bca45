// Command belsim computes the error of regression by binary-encoded labels: of
// a label that is encoded in bits, predicted by binary classifiers, and decoded.
package main

import (
	"os"
	"runtime/debug"

	"belsim/theory/memory"
)

func main() {
	// A crash of the runtime would have the exit code 2, which says that the command line is
	// wrong, and that to start again is no use. It is the signal SIGABRT instead.
	debug.SetTraceback("crash")
	memory.LimitCollector()
	os.Exit(belsim(os.Args[1:], os.Stdout, os.Stderr))
}
