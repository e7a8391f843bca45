package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// callerVariable is the variable of the environment by which a program that calls belsim, such as
// the Python package, asks it to end when the program ends in whatever way: PID, or PID:FOLDER with
// the folder of the arrays that it wrote for the call. A file in it, callerFile, has the same PID:
// a variable alone removes no folder.
const (
	callerVariable = "BELSIM_CALLER"
	callerFile     = "caller"
)

// callVariable has the caller's call in its own words, which results name as their command.
const callVariable = "BELSIM_CALL"

// countFrom is the number that positions in sentences count from: 1, or 0 for such a caller, whose
// arrays begin at 0.
func countFrom(value string) int {
	if value != "" {
		return 0
	}
	return 1
}

// watchCaller ends the process soon after its caller has ended, and removes the caller's folder
// then: a caller that was killed cannot. leave does the same for a caller that ended together with
// the command. Nothing is lost: a command that is killed leaves no half-written file under its own
// name.
func watchCaller(value string) (leave func()) {
	id, folder, _ := strings.Cut(value, ":")
	caller, err := strconv.Atoi(id)
	if err != nil {
		return func() {}
	}
	signal.Ignore(syscall.SIGPIPE) // nobody reads the caller's pipes then; the folder has to go first
	go func() {
		waitForEnd(caller)
		removeFolder(id, folder)
		os.Exit(exitSignal + int(syscall.SIGTERM))
	}()
	return func() {
		if os.Getppid() != caller {
			removeFolder(id, folder)
		}
	}
}

// removeFolder removes a folder that the caller with an ID made.
func removeFolder(caller, folder string) {
	if made, err := os.ReadFile(filepath.Join(folder, callerFile)); err == nil && string(made) == caller {
		_ = os.RemoveAll(folder)
	}
}
