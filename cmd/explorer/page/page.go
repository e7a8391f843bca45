// Package page is the page of the explorer: its HTML, its style and its modules, put into one file.
package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.html *.css *.js
var files embed.FS

// workers are the scripts of Web Workers, which are no modules.
var workers = []string{"worker.js", "remote.js"}

// Parts are what the page gets besides its own files.
type Parts struct {
	Worker string   // the script of the Web Workers that answer questions
	WASM   []byte   // the engine, where the workers have it; nil where they ask the page's server
	Given  []string // names of files that the page opens first, which lie at given/0, given/1 and so on
}

// Script is one of the page's files; "" where there is none of this name.
func Script(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(b)
}

// HTML is the page.
func HTML(p Parts) ([]byte, error) { return assemble(files, p) }

// assemble puts the parts of the page into its HTML. Scripts are modules under the names
// explorer/FILE; the import map holds them, so that the page loads nothing.
func assemble(page fs.FS, p Parts) ([]byte, error) {
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
		if path.Ext(name) == ".js" && !slices.Contains(workers, name) {
			b = append(b, "\n//# sourceURL=explorer/"+name+"\n"...)
			imports["explorer/"+name] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString(b)
		}
	}
	html := text["index.html"]
	mapping, err := json.Marshal(map[string]any{"imports": imports})
	if err != nil {
		return nil, err
	}
	packed, connect := []byte{}, "'self'"
	if p.WASM != nil {
		if packed, err = compress(p.WASM); err != nil {
			return nil, err
		}
		connect = "'none'"
	}
	given, err := json.Marshal(p.Given) // escapes <
	if err != nil {
		return nil, err
	}
	if strings.Contains(p.Worker, "</script") {
		return nil, errors.New("the worker's script would end the page's script")
	}
	for _, part := range []struct{ mark, text string }{
		{"/*style*/", text["style.css"]},
		{"/*connect*/", connect},
		{"/*worker*/", p.Worker},
		{"/*given*/", string(given)},
		{"/*imports*/", string(mapping)},
		{"/*wasm*/", base64.StdEncoding.EncodeToString(packed)},
	} {
		if part.text == "" && part.mark != "/*wasm*/" {
			return nil, fmt.Errorf("nothing stands for %s: a file is missing", part.mark)
		}
		if strings.Count(html, part.mark) != 1 {
			return nil, fmt.Errorf("index.html has %d times %s; want once", strings.Count(html, part.mark), part.mark)
		}
		html = strings.Replace(html, part.mark, part.text, 1)
	}
	return []byte(html), nil
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
