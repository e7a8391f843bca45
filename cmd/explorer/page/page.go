// Package page is the page of the explorer: its HTML, its style and its modules, put into one file.
package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
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
	b, _ := files.ReadFile(name)
	return string(b)
}

// HTML is the page. Scripts are modules under the names explorer/FILE; the import map holds them, so that the page
// loads nothing.
func HTML(p Parts) ([]byte, error) {
	imports := map[string]string{}
	names, err := fs.Glob(files, "*.js")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.Contains(workers, name) {
			text := Script(name) + "\n//# sourceURL=explorer/" + name + "\n"
			imports["explorer/"+name] = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	packed, connect := []byte{}, "'self'"
	if p.WASM != nil {
		if packed, err = compress(p.WASM); err != nil {
			return nil, err
		}
		connect = "'none'"
	}
	mapping, err1 := json.Marshal(map[string]any{"imports": imports})
	given, err2 := json.Marshal(p.Given) // escapes <
	return []byte(strings.NewReplacer("/*style*/", Script("style.css"), "/*connect*/", connect, "/*worker*/", p.Worker,
		"/*given*/", string(given), "/*imports*/", string(mapping), "/*wasm*/",
		base64.StdEncoding.EncodeToString(packed)).Replace(Script("index.html"))), errors.Join(err1, err2)
}

// compress packs bytes as the page unpacks them. The same bytes give the same result.
func compress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(b)
		err = errors.Join(err, w.Close())
	}
	return out.Bytes(), err
}
