package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"belsim/cmd/internal/buildinfo"
)

//go:embed page/*.html page/*.css page/*.js
var files embed.FS

// engine is the package of the WebAssembly entry.
const engine = "belsim/cmd/explorer/wasm"

// build makes the page: one HTML file with its style, its scripts and the engine.
func build(ctx context.Context) ([]byte, error) {
	wasm, support, err := compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("building the engine: %w", err)
	}
	page, err := fs.Sub(files, "page")
	if err != nil {
		return nil, err
	}
	return assemble(page, wasm, support)
}

// compile returns the engine as WebAssembly, and the script that Go needs to run it.
func compile(ctx context.Context) (wasm, support []byte, err error) {
	root, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return nil, nil, err
	}
	if support, err = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, nil, err
	}
	folder, err := os.MkdirTemp("", "explorer")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "engine.wasm")
	if _, err := goTool(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X 'main.version="+version()+"'", "-o", out, engine); err != nil {
		return nil, nil, err
	}
	wasm, err = os.ReadFile(out)
	return wasm, support, err
}

// goTool runs the go command for WebAssembly, and returns what it prints.
func goTool(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := c.Output()
	var failed *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no go command: the page is built from belsim's source, with Go")
	case errors.As(err, &failed):
		return "", fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(failed.Stderr))
	}
	return string(out), err
}

// version is the version of belsim that the page shows.
func version() string {
	info, _ := debug.ReadBuildInfo() // nil where there is none
	return buildinfo.Version("", info)
}

// assemble puts the parts of the page into its HTML. Scripts are modules under the names
// explorer/FILE; the import map holds them, so that the page loads nothing.
func assemble(page fs.FS, wasm, support []byte) ([]byte, error) {
	text := map[string]string{}
	imports := map[string]string{}
	names, err := fs.Glob(page, "*.*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := fs.ReadFile(page, name)
		if err != nil {
			return nil, err
		}
		text[name] = string(b)
		if path.Ext(name) == ".js" && name != "worker.js" {
			b = append(b, "\n//# sourceURL=explorer/"+name+"\n"...)
			imports["explorer/"+name] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString(b)
		}
	}
	html := text["index.html"]
	mapping, err := json.Marshal(map[string]any{"imports": imports})
	if err != nil {
		return nil, err
	}
	packed, err := compress(wasm)
	if err != nil {
		return nil, err
	}
	script := string(support) + "\n" + text["worker.js"]
	if strings.Contains(script, "</script") {
		return nil, errors.New("the worker's script would end the page's script")
	}
	for _, part := range []struct{ mark, text string }{
		{"/*style*/", text["style.css"]},
		{"/*worker*/", script},
		{"/*imports*/", string(mapping)},
		{"/*size*/", strconv.Itoa(len(packed))},
		{"/*wasm*/", encode(packed)},
	} {
		if part.text == "" {
			return nil, fmt.Errorf("nothing stands for %s: a file is missing", part.mark)
		}
		if strings.Count(html, part.mark) != 1 {
			return nil, fmt.Errorf("index.html has %d times %s; want once", strings.Count(html, part.mark), part.mark)
		}
		html = strings.Replace(html, part.mark, part.text, 1)
	}
	return []byte(html), nil
}

// forbidden are the characters that the text of a script may not hold: HTML replaces the first,
// takes one line end for another, and ends the script at the last.
const forbidden = "\x00\n\r<"

// encode writes bytes as text, seven bits a character: an eighth more than the bytes, where base64
// takes a third more. A forbidden character and the one after it are one character of two bytes,
// from U+0100 on. page/wasm.js has the inverse.
func encode(b []byte) string {
	var out strings.Builder
	out.Grow(len(b) + len(b)/7 + 2)
	groups, bits, value := (8*len(b)+6)/7, 0, 0
	next := func() (group int) {
		if bits < 7 {
			value <<= 8
			if len(b) > 0 {
				value |= int(b[0])
				b = b[1:]
			}
			bits += 8
		}
		bits -= 7
		groups--
		group, value = value>>bits, value&(1<<bits-1)
		return group
	}
	for groups > 0 {
		group := next()
		i := strings.IndexByte(forbidden, byte(group))
		if i < 0 {
			out.WriteByte(byte(group))
			continue
		}
		second := 0 // after the last group
		if groups > 0 {
			second = next()
		}
		out.WriteRune(rune(0x100 + i<<7 + second))
	}
	return out.String()
}

// compress packs bytes as the page unpacks them. The same bytes give the same result.
func compress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
