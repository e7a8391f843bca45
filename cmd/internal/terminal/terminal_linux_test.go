package terminal

import (
	"os"
	"testing"

	"belsim/cmd/internal/terminal/terminaltest"
)

// TestTerminal: a pseudoterminal gets colours unless the environment is against them.
func TestTerminal(t *testing.T) {
	_, tty := terminaltest.Open(t)
	for env, want := range map[string]bool{"": true, "TERM=xterm": true, "TERM=dumb": false, "NO_COLOR=1": false, "NO_COLOR=": true} {
		if got := Coloured(tty, environment(env)); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Coloured(file, environment("TERM=xterm")) {
		t.Error("a file has colours")
	}
}
