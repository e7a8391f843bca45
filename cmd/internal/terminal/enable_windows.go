package terminal

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// enable prepares a terminal for escape sequences, and reports whether it obeys them. Consoles of
// Windows print them as text until they are told; other terminals, such as mintty, are no consoles.
func enable(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	var mode uint32
	console := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return true // a terminal, as Is has found, but no console
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
