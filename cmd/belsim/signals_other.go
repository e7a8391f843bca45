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

// checkDescriptors returns nil: the number of open files is not limited by process.
func checkDescriptors() error { return nil }
