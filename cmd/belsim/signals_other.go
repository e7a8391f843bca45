//go:build !unix

package main

import (
	"os"
	"syscall"
)

// interruptions are the signals that end a command, which first writes the finished results.
var interruptions = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

// signalStatus is the exit code of a command that a signal ended.
func signalStatus(s syscall.Signal) int { return exitSignal + int(s) }

// waitForEnd returns when the process that started this one has ended.
func waitForEnd(parent int) {
	if p, err := os.FindProcess(parent); err == nil { // on Windows a handle, which can be waited for
		_, _ = p.Wait()
	}
}
