// Command belsim computes the error of regression by binary-encoded labels: of
// a label that is encoded in bits, predicted by binary classifiers, and decoded.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"belsim/theory/base/memory"
)

func main() {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "belsim:", err)
		os.Exit(exitEnvironment)
	}
	leave := watchCaller(os.Getenv(callerVariable))
	status := belsim(os.Args[1:], os.Stdout, os.Stderr)
	leave()
	os.Exit(status)
}

// prepare sets how the runtime uses memory, and how it ends where there is none. The error says
// that the runtime cannot do its work here.
func prepare() error {
	// A crash of the runtime would have the exit code 2, which says that the command line is
	// wrong, and that to start again is no use. It is the signal SIGABRT instead.
	debug.SetTraceback("crash")
	if err := memory.CheckStart(); err != nil {
		return err
	}
	memory.LimitCollector()
	return nil
}
