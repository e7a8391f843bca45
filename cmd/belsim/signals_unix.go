//go:build unix

package main

import (
	"os"
	"syscall"
	"time"
)

// interruptions are the signals that end a command, which first writes the finished results.
// Batch systems send SIGUSR1 a while before they end a job.
var interruptions = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1}

// signalStatus is the exit code of a command that a signal ended. SIGUSR1 asks for what
// SIGTERM does, only earlier.
func signalStatus(s syscall.Signal) int {
	if s == syscall.SIGUSR1 {
		s = syscall.SIGTERM
	}
	return exitSignal + int(s)
}

// waitForEnd returns when the process that started this one has ended: another one is its parent
// then.
func waitForEnd(parent int) {
	for os.Getppid() == parent {
		time.Sleep(100 * time.Millisecond)
	}
}
