// Package serve serves the explorer's page on this machine. The page asks the server for its
// answers, so they are computed natively.
package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"belsim/cmd/explorer/engine"
	"belsim/cmd/explorer/page"
)

// Explorer serves the page at a port, 0 for a free one, until the context ends. The page opens the
// given files first. started hears the address. Only this machine reaches the page, and only who
// knows its address, which nobody guesses. The error is the context's where that ends it.
func Explorer(ctx context.Context, version string, port int, given []string, started func(url string)) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("serving the explorer: %w", err)
	}
	secret := "/" + rand.Text() + "/"
	h, err := handler(version, secret, given)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: silence, ReadTimeout: silence, IdleTimeout: idle,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	started("http://" + l.Addr().String() + secret)
	select {
	case err := <-failed:
		return fmt.Errorf("serving the explorer: %w", err)
	case <-ctx.Done():
	}
	// Answers that are being computed end with the context, and remove their files.
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), 300*time.Millisecond)
	defer stop()
	if server.Shutdown(ending) != nil {
		server.Close()
	}
	return ctx.Err()
}

const (
	silence = 10 * time.Second // after which a request that is not whole ends
	idle    = 30 * time.Second // after which a connection without requests ends
)

// Door writes a file that only the user reads, in a folder that only the user enters, and that leads
// a browser to an address. A browser that was given the address would show it to everyone on the
// machine, in the list of processes. remove removes the file and its folder.
func Door(url string) (path string, remove func() error, err error) {
	folder, err := os.MkdirTemp("", "belsim-explore") // mode 0700
	if err != nil {
		return "", nil, err
	}
	path, remove = filepath.Join(folder, "explorer.html"), func() error { return os.RemoveAll(folder) }
	const html = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>belsim</title>
<meta http-equiv="refresh" content="0;url=%[1]s"><a href="%[1]s">The explorer</a>
`
	if err := os.WriteFile(path, fmt.Appendf(nil, html, url), 0o600); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return path, remove, nil
}

// handler serves the page, the given files and answers, all below a path.
func handler(version, below string, given []string) (http.Handler, error) {
	var names []string
	for _, path := range given {
		names = append(names, filepath.Base(path))
	}
	html, err := page.HTML(page.Parts{Worker: fmt.Sprintf("const BASE = location.origin + %q;\n", below) +
		page.Script("remote.js"), Given: names})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+below+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(html)
	})
	for i, path := range given {
		mux.HandleFunc(fmt.Sprintf("GET %sgiven/%d", below, i),
			func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
	}
	engines := sync.Pool{New: func() any { return engine.New(version) }}
	mux.HandleFunc("POST "+below+"answer/{method}", func(w http.ResponseWriter, r *http.Request) {
		e := engines.Get().(*engine.Engine)
		defer engines.Put(e)
		// A question may be long, and is to arrive without a pause; its answer may take as long as it takes.
		wait := http.NewResponseController(w)
		r.Body = &patient{r.Body, wait}
		b, err := answer(e, r, wait)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Write(b)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A page of another name may not reach this one by calling itself 127.0.0.1.
		if host, _, err := net.SplitHostPort(r.Host); err != nil || host != "127.0.0.1" && host != "localhost" {
			http.Error(w, "this page is for 127.0.0.1", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		mux.ServeHTTP(w, r)
	}), nil
}

// answer is the engine's answer to a request. Files that come with the question lie in a folder of
// their own as long.
func answer(e *engine.Engine, r *http.Request, wait *http.ResponseController) ([]byte, error) {
	const inMemory = 32 << 20
	if err := r.ParseMultipartForm(inMemory); err != nil {
		return nil, fmt.Errorf("reading a question: %w", err)
	}
	wait.SetReadDeadline(time.Time{})
	defer r.MultipartForm.RemoveAll()
	folder, err := os.MkdirTemp("", "belsim-explore")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var names []string
	given := r.MultipartForm.File["file"]
	if json.Unmarshal([]byte(cmp.Or(r.FormValue("names"), "[]")), &names) != nil || len(names) != len(given) {
		return nil, fmt.Errorf("reading a question: %d names of %d files", len(names), len(given))
	}
	e.Folder = folder
	for i, f := range given {
		if err := keep(e.Path(names[i]), f); err != nil {
			return nil, errors.New(e.Named(err.Error()))
		}
	}
	method := strings.TrimSuffix(r.PathValue("method")+"?"+r.URL.RawQuery, "?") // no method has a query
	return e.Write(r.Context(), method, []byte(r.FormValue("question")))
}

// patient is the body of a request that may take long, but without a pause.
type patient struct {
	io.ReadCloser
	wait *http.ResponseController
}

func (p *patient) Read(b []byte) (int, error) {
	p.wait.SetReadDeadline(time.Now().Add(silence)) // not where the request comes from no connection, in tests
	return p.ReadCloser.Read(b)
}

// keep writes a file that came with a question.
func keep(path string, f *multipart.FileHeader) error {
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
