// Package engine answers the questions of the explorer's page: a code with its transitions, the
// error probabilities of its bits, the error of every level, a row of the table of codes, a part
// of the map, what a file holds. Each answer comes from the libraries that the command
// uses, so the numbers are the command's.
//
// A question is a method's name and a JSON object; an answer is a JSON object and arrays of
// numbers. The package does not know where it runs: natively in tests, and in the browser as
// WebAssembly.
package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"belsim/montecarlo"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// answer is the answer to a question.
type answer struct {
	JSON    any                  // written as JSON
	Numbers map[string][]float64 // NaN stands for a number that does not exist
	Bytes   map[string][]byte
}

// Engine answers questions. It keeps what one question leaves for the next. It is for one
// goroutine at a time.
type Engine struct {
	// Folder has the files that questions name; "" where their names are paths.
	Folder   string
	problems map[string]*montecarlo.Problem
	version  string
}

// New returns an engine. version is belsim's, for the results that it writes.
func New(version string) *Engine {
	return &Engine{problems: map[string]*montecarlo.Problem{}, version: version}
}

// Path is where the file of a name lies: in the folder, whatever the name is.
func (e *Engine) Path(name string) string {
	if e.Folder == "" {
		return name
	}
	base := filepath.Base(name)
	if base == "." || base == ".." || base == string(filepath.Separator) {
		base = "file without a name"
	}
	return filepath.Join(e.Folder, base)
}

// methods are the questions that the page asks.
var methods = map[string]func(e *Engine, ctx context.Context, question []byte) (*answer, error){
	"about":   asked((*Engine).about),
	"code":    asked((*Engine).code),
	"errors":  asked((*Engine).errors),
	"theory":  asked((*Engine).theory),
	"samples": asked((*Engine).samples),
	"answers": asked((*Engine).answers),
	"row":     asked((*Engine).row),
	"map":     asked((*Engine).mapRows),
	"inspect": asked((*Engine).inspect),
	"file":    asked((*Engine).file),
}

// call answers a question. The error is a plain sentence for people, or the context's.
func (e *Engine) call(ctx context.Context, method string, question []byte) (*answer, error) {
	m, ok := methods[method]
	if !ok {
		return nil, fmt.Errorf("the engine does not know %q", method)
	}
	return m(e, ctx, question)
}

// asked decodes the question of a method.
func asked[Q any](
	method func(e *Engine, ctx context.Context, q Q) (*answer, error),
) func(*Engine, context.Context, []byte) (*answer, error) {
	return func(e *Engine, ctx context.Context, question []byte) (*answer, error) {
		var q Q
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, fmt.Errorf("reading a question: %w", err)
		}
		return method(e, ctx, q)
	}
}

// part is an array behind the line of an answer.
type part struct {
	Name    string `json:"name"`
	Numbers bool   `json:"numbers"` // of 8 bytes
	Length  int    `json:"length"`  // in bytes
}

// Write answers a question as pages read it (pool.js): a line of JSON, with that of the answer and
// what follows, and the bytes of its arrays.
func (e *Engine) Write(ctx context.Context, method string, question []byte) ([]byte, error) {
	a, err := e.call(ctx, method, question)
	if err != nil {
		return nil, errors.New(e.Named(err.Error()))
	}
	text, err := table.JSON(a.JSON)
	if err != nil {
		return nil, err
	}
	head := struct {
		JSON  json.RawMessage `json:"json"`
		Parts []part          `json:"parts"`
	}{json.RawMessage(e.Named(string(text))), []part{}}
	var arrays bytes.Buffer
	for name, v := range a.Numbers {
		head.Parts = append(head.Parts, part{name, true, 8 * len(v)})
		if err := binary.Write(&arrays, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	for name, b := range a.Bytes {
		head.Parts = append(head.Parts, part{name, false, len(b)})
		arrays.Write(b)
	}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), arrays.Bytes()...), nil
}

// Named calls the files of a text by the names that the user knows.
func (e *Engine) Named(text string) string {
	text = position.Count(text, 1)
	if e.Folder == "" {
		return text
	}
	folder := e.Folder + string(filepath.Separator)
	return strings.NewReplacer(folder, "", strings.Trim(strconv.Quote(folder), `"`), "").Replace(text)
}

// about says what the engine knows: the names that a page offers.
type about struct {
	Version  string        `json:"version"`
	Codes    []code.Family `json:"codes"`
	Decoders []string      `json:"decoders"`
	// maxLevels is the largest number of levels of a page's codes.
	MaxLevels int `json:"max_levels"`
}

func (e *Engine) about(context.Context, struct{}) (*answer, error) {
	return &answer{JSON: about{e.version, code.Families(), decode.Names(), maxLevels}}, nil
}

// keep is the largest number of problems that are kept: the codes of the table and of a few moves
// before.
const keep = 48

// kept returns the problem of a key, which it makes where it is not there.
func (e *Engine) kept(key string, make func() (*montecarlo.Problem, error)) (*montecarlo.Problem, error) {
	if p, ok := e.problems[key]; ok {
		return p, nil
	}
	p, err := make()
	if err != nil {
		return nil, err
	}
	if len(e.problems) == keep {
		clear(e.problems)
	}
	e.problems[key] = p
	return p, nil
}

// run is how an engine computes: on the one goroutine that a worker of the page has.
var run = montecarlo.Run{Backend: montecarlo.CPU{Workers: 1}, Workers: 1}
