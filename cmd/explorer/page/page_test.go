package page

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"belsim/theory/base/must"
)

func TestAssemble(t *testing.T) {
	html := "<style>/*style*/</style>/*size*/ /*wasm*/ /*worker*/ /*imports*/ /*given*/ /*connect*/"
	page := fstest.MapFS{
		"index.html": {Data: []byte(html)}, "style.css": {Data: []byte("body{}")}, "worker.js": {Data: []byte("onmessage")}, "a.js": {Data: []byte("export {}")},
	}
	got := must.Get(assemble(page, Parts{Worker: "support\nonmessage", WASM: []byte("wasm")}))(t)
	code := base64.StdEncoding.EncodeToString([]byte("export {}\n//# sourceURL=explorer/a.js\n"))
	for _, want := range []string{"<style>body{}</style>", "support\nonmessage",
		`{"imports":{"explorer/a.js":"data:text/javascript;base64,` + code} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s\ndoes not hold %s", got, want)
		}
	}
	served, err := assemble(page, Parts{Worker: "fetch", Given: []string{"</script>"}})
	if text := string(served); err != nil || strings.Contains(text, "</script>") ||
		!strings.Contains(text, "<style>body{}</style>0  fetch") || !strings.HasSuffix(text, "'self'") {
		t.Errorf("%q, %v", served, err)
	}
	page["index.html"] = &fstest.MapFile{Data: []byte(html + "/*wasm*/")}
	if _, err := assemble(page, Parts{Worker: "fetch"}); err == nil || !strings.Contains(err.Error(),
		"2 times /*wasm*/") {
		t.Errorf("error %v", err)
	}
	page["index.html"] = &fstest.MapFile{Data: []byte(html)}
	delete(page, "style.css")
	if _, err := assemble(page, Parts{Worker: "fetch"}); err == nil {
		t.Error("a page without a style is assembled")
	}
}

func TestEncode(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		b := make([]byte, n)
		for i := range b {
			if b[i] = byte(random.Uint32()); n%3 == 0 {
				b[i] &= 0x42 // many forbidden characters
			}
		}
		text := encode(b)
		if strings.ContainsAny(text, forbidden) || !utf8.ValidString(text) || len(text) > (8*n+6)/7+1 {
			t.Fatalf("%v becomes %q", b, text)
		}
		var back []byte
		value, bits := 0, 0
		add := func(group int) {
			value, bits = value<<7|group, bits+7
			if bits >= 8 {
				bits -= 8
				back = append(back, byte(value>>bits))
				value &= 1<<bits - 1
			}
		}
		for _, c := range text {
			if c < 128 {
				add(int(c))
			} else {
				add(int(forbidden[(c-256)>>7]))
				add(int(c & 127))
			}
		}
		if len(back) < n || !bytes.Equal(back[:n], b) {
			t.Fatalf("%v comes back as %v", b, back)
		}
	}
}
