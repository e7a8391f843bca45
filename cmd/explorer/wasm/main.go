//go:build js && wasm

// Command wasm is the engine of the explorer's page, for its Web Workers. It sets globalThis.belsim
// to a function of a method and a question in JSON, which returns a promise of the answer's bytes.
// belsimStop() ends the question that is being answered; a worker hears that it is wanted where it
// has belsimListen(resume), which calls resume after the messages that wait.
package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"syscall/js"
	"time"

	"belsim/cmd/explorer/engine"
)

func main() {
	e := engine.New(version)
	stop := func() {}
	js.Global().Set("belsimStop", js.FuncOf(func(js.Value, []js.Value) any {
		stop()
		return nil
	}))
	listen := listener()
	js.Global().Set("belsim", js.FuncOf(func(_ js.Value, args []js.Value) any {
		method, question := args[0].String(), []byte(args[1].String())
		var executor js.Func
		executor = js.FuncOf(func(_ js.Value, args []js.Value) any {
			resolve, reject := args[0], args[1]
			go func() { // files are read by calls that come back later
				defer executor.Release()
				ctx, end := context.WithCancel(context.Background())
				defer end()
				stop = end
				answer, err := call(&listening{ctx, listen, time.Now()}, e, method, question)
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

// listening is the context of a question. Go has one thread here, and while it computes the worker
// hears nothing. So whoever asks this context whether it has ended lets the worker hear every few
// milliseconds, and the question may be stopped then. Contexts that are derived from it, as that of
// a fit's readers, do not ask it: such a question is not stopped. What asks computes on one
// goroutine.
type listening struct {
	context.Context
	listen func()
	heard  time.Time
}

// deaf is how long a worker computes without hearing.
const deaf = 5 * time.Millisecond

// Err implements context.Context.
func (l *listening) Err() error {
	if time.Since(l.heard) > deaf {
		l.listen()
		l.heard = time.Now()
	}
	return l.Context.Err()
}

// listener returns a function that waits until the messages that wait have been heard.
func listener() func() {
	hear := js.Global().Get("belsimListen")
	if hear.IsUndefined() {
		return func() {}
	}
	heard := make(chan struct{}, 1)
	resume := js.FuncOf(func(js.Value, []js.Value) any {
		heard <- struct{}{}
		return nil
	})
	return func() {
		hear.Invoke(resume)
		<-heard
	}
}

// version is belsim's, set by the builder of the page.
var version = "(devel)"

// call answers a question. A panic of the engine is an error of this question only.
func call(ctx context.Context, e *engine.Engine, method string, question []byte) (answer js.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the engine failed: %v", r)
			println(string(debug.Stack()))
		}
	}()
	b, err := e.Write(ctx, method, question)
	if err != nil {
		return js.Undefined(), err
	}
	answer = js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(answer, b)
	return answer, nil
}
