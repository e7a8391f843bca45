package page

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/fstest"

	"belsim/theory/base/must"
)

func TestAssemble(t *testing.T) {
	html := "<style>/*style*/</style>/*wasm*/ /*worker*/ /*imports*/ /*given*/ /*connect*/"
	page := fstest.MapFS{
		"index.html": {Data: []byte(html)}, "style.css": {Data: []byte("body{}")},
		"worker.js": {Data: []byte("onmessage")}, "a.js": {Data: []byte("export {}")},
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
		!strings.Contains(text, "<style>body{}</style> fetch") || !strings.HasSuffix(text, "'self'") {
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
