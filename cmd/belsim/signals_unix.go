//go:build unix

package main

import (
	"errors"
	"fmt"
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

// checkDescriptors returns an error where the process may not open the files that the runtime
// of Go needs: it would crash. The calls are the system's own, which use none of the runtime's.
func checkDescriptors() error {
	const enough = 5
	for range enough {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return fmt.Errorf("opening files: %w; belsim needs %d at least beside the standard ones", err, enough)
		}
		if err != nil {
			return nil // no device there; nothing is known
		}
		defer syscall.Close(fd)
	}
	return nil
}
