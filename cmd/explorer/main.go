// Command explorer builds the page on which one moves the parameters of belsim's models with the
// mouse, as one file that opens from disk and computes everything by itself: it holds belsim as
// WebAssembly. The command belsim explore serves the same page, and computes natively.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"belsim/theory/base/safefile"
)

// release is the name of the release that the page is built for, which -ldflags=-X sets; "" for none.
var release string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	output := flag.String("o", "explorer.html", "write the page to `FILE`")
	flag.Parse()
	if err := explore(ctx, *output); err != nil {
		fmt.Fprintln(os.Stderr, "explorer: "+err.Error())
		os.Exit(2)
	}
}

// explore writes the page to a file.
func explore(ctx context.Context, path string) error {
	page, err := build(ctx)
	if err != nil {
		return err
	}
	return safefile.Write(path, func(w io.Writer) error {
		_, err := w.Write(page)
		return err
	})
}
