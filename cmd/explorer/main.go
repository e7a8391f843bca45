// Command explorer is a page on which one moves the parameters of belsim's models with the mouse.
// The page computes everything by itself: it holds belsim as WebAssembly.
//
// Without flags, explorer builds the page, serves it on a free port of this machine and prints
// the address. With -o it writes the page to one file, which opens from disk and needs no server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"belsim/theory/base/safefile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := explore(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "explorer: "+err.Error())
		os.Exit(2)
	}
}

const usage = `Usage: explorer [flags]

Builds the explorer, a page that computes in the browser, and serves it on this machine.

Examples:

  go run ./cmd/explorer
  go run ./cmd/explorer -o explorer.html

Flags:
`

// explore does what the arguments say, until the context ends.
func explore(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("explorer", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	output := flags.String("o", "", "write the page to `FILE`, which opens from disk, and do not serve it")
	address := flags.String("address", "127.0.0.1:0", "serve at `HOST:PORT`; port 0 is a free one")
	quiet := flags.Bool("no-browser", false, "do not open a browser")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (-h explains the flags)", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: -h explains the flags", flags.Arg(0))
	}
	page, err := build(ctx)
	if err != nil {
		return err
	}
	if *output != "" {
		return safefile.Write(*output, func(w io.Writer) error {
			_, err := w.Write(page)
			return err
		})
	}
	return serve(ctx, page, *address, stdout, !*quiet)
}

// serve serves the page until the context ends.
func serve(ctx context.Context, page []byte, address string, stdout io.Writer, browse bool) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serving the page: %w", err)
	}
	server := &http.Server{Handler: handler(page), ReadHeaderTimeout: 10 * time.Second}
	url := "http://" + listener.Addr().String() + "/"
	fmt.Fprintf(stdout, "The explorer is at %s (Ctrl-C ends it).\n", url)
	if browse {
		open(url)
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving the page: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}

// handler serves the page, and nothing else.
func handler(page []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Write(page)
	})
}

// open shows an address in a browser, where there is one. The address is printed anyway, so
// nothing is said where there is none.
func open(url string) {
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	if c := exec.Command(command[0], command[1:]...); c.Start() == nil {
		go c.Wait()
	}
}
