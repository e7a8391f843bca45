package page

import (
	"encoding/base64"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

// TestHTML: every part stands in the page, names of files end no script, and only a served page connects.
func TestHTML(t *testing.T) {
	alone := string(must.Get(HTML(Parts{Worker: "support\nonmessage", WASM: []byte("wasm")}))(t))
	served := string(must.Get(HTML(Parts{Worker: "fetch", Given: []string{"</script>"}}))(t))
	module := base64.StdEncoding.EncodeToString([]byte(Script("dom.js") + "\n//# sourceURL=explorer/dom.js\n"))
	for _, want := range []string{Script("style.css"), "support\nonmessage",
		`"explorer/dom.js":"data:text/javascript;base64,` + module + `"`, "connect-src 'none'"} {
		if !strings.Contains(alone, want) {
			t.Errorf("the page does not hold %.80s", want)
		}
	}
	if strings.Contains(served, `["</script>"]`) || !strings.Contains(served, "connect-src 'self'") {
		t.Error("a name ends the script, or the page does not ask its server")
	}
	if at := strings.Index(alone, "/*"); at >= 0 && strings.Contains("/*style*/ /*connect*/ /*worker*/ /*given*/ /*imports*/ /*wasm*/", alone[at:at+7]) {
		t.Errorf("%.20s is left", alone[at:])
	}
}
