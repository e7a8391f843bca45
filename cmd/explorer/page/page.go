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
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.html *.css *.js
var files embed.FS

// workers are the scripts of Web Workers, which are no modules.
var workers = []string{"worker.js", "remote.js"}

// bare are the indentation of scripts and styles, and comments on lines of their own. Without them
// the page is smaller, and its lines have the same numbers.
var bare = regexp.MustCompile(`(?m)^\t*(//.*|/\*\* .*\*/)$|^\t+`)

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
		if path.Ext(name) != ".html" {
			b = bare.ReplaceAll(b, nil)
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
		{"/*worker*/", bare.ReplaceAllString(p.Worker, "")},
		{"/*given*/", string(given)},
		{"/*imports*/", string(mapping)},
		{"/*size*/", strconv.Itoa(len(packed))},
		{"/*wasm*/", encode(packed)},
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

// forbidden are the characters that the text of a script may not hold: HTML replaces the first,
// takes one line end for another, and ends the script at the last.
const forbidden = "\x00\n\r<"

// encode writes bytes as text, seven bits a character: an eighth more than the bytes, where base64
// takes a third more. A forbidden character and the one after it are one character of two bytes,
// from U+0100 on. wasm.js has the inverse.
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
