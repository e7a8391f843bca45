//go:build js && wasm

// Command wasm is the engine of the explorer's page, for its Web Workers. It sets
// globalThis.belsim to a function of a method and a question in JSON, which returns a promise of
// the answer: an object with json, numbers (Float64Array by name) and bytes (Uint8Array by name).
package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"syscall/js"
	"unsafe"

	"belsim/cmd/explorer/engine"
	"belsim/theory/base/table"
)

func main() {
	e := engine.New(version)
	js.Global().Set("belsim", js.FuncOf(func(_ js.Value, args []js.Value) any {
		method, question := args[0].String(), []byte(args[1].String())
		var executor js.Func
		executor = js.FuncOf(func(_ js.Value, args []js.Value) any {
			resolve, reject := args[0], args[1]
			go func() { // files are read by calls that come back later
				defer executor.Release()
				answer, err := call(e, method, question)
				if err != nil {
					reject.Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				resolve.Invoke(answer)
			}()
			return nil
		})
		return js.Global().Get("Promise").New(executor)
	}))
	js.Global().Call("belsimReady")
	select {}
}

// version is belsim's, set by the builder of the page.
var version = "(devel)"

// call answers a question. A panic of the engine is an error of this question only.
func call(e *engine.Engine, method string, question []byte) (answer js.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the engine failed: %v", r)
			println(string(debug.Stack()))
		}
	}()
	a, err := e.Call(context.Background(), method, question)
	if err != nil {
		return js.Undefined(), err
	}
	text, err := table.JSON(a.JSON)
	if err != nil {
		return js.Undefined(), err
	}
	numbers, blobs := js.Global().Get("Object").New(), js.Global().Get("Object").New()
	for name, v := range a.Numbers {
		bytes := array(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v)))
		numbers.Set(name, js.Global().Get("Float64Array").New(bytes.Get("buffer")))
	}
	for name, b := range a.Bytes {
		blobs.Set(name, array(b))
	}
	answer = js.Global().Get("Object").New()
	answer.Set("json", string(text))
	answer.Set("numbers", numbers)
	answer.Set("bytes", blobs)
	return answer, nil
}

// array copies bytes to JavaScript.
func array(b []byte) js.Value {
	out := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(out, b)
	return out
}
