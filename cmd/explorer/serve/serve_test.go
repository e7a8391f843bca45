package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"belsim/theory/base/must"
)

// ask asks a handler a question with a file.
func ask(t *testing.T, h http.Handler, url, question, name, content string) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must.Succeed(t, form.WriteField("question", question))
	if name != "" {
		must.Succeed(t, form.WriteField("names", string(must.Get(json.Marshal([]string{name}))(t))))
		w := must.Get(form.CreateFormFile("file", "blob"))(t)
		io.WriteString(w, content)
	}
	form.Close()
	r := httptest.NewRequest("POST", url, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestHandler: the page, its files and answers are there below the path, for a caller who says
// 127.0.0.1.
func TestHandler(t *testing.T) {
	given := filepath.Join(t.TempDir(), "mine.csv")
	must.Succeed(t, os.WriteFile(given, []byte("1,0\n0,1\n"), 0o600))
	h := must.Get(handler("1.2.0", "/secret/", []string{given}))(t)
	for url, want := range map[string]string{
		"http://127.0.0.1:7/secret/":        "200 <!doctype html>",
		"http://localhost:7/secret/given/0": "200 1,0\n0,1\n",
		"http://127.0.0.1:7/secret/given/1": "404 ", "http://127.0.0.1:7/": "404 ", "http://127.0.0.1:7/other/": "404 ",
		"http://other.example:7/secret/": "403 ",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", url, nil))
		code, text, _ := strings.Cut(want, " ")
		if got := w.Body.String(); w.Result().Status[:3] != code || !strings.HasPrefix(got, text) {
			t.Errorf("%s: %s %.60q", url, w.Result().Status, got)
		}
	}
	const at = "http://127.0.0.1:7/secret/answer/"
	for _, tt := range []struct{ method, question, name, content, want string }{
		{"about", "{}", "", "", `1\.2\.0`},
		{"inspect", `{"path":"mine.csv"}`, "mine.csv", "1,0\n0,1\n", `"Name":"mine\.csv"|"name":"mine\.csv"`},
		// as the user calls it
		{"inspect", `{"path":"a.csv"}`, "a.csv", "what", `^a\.csv: `},
		// no other file
		{"inspect", `{"path":"` + filepath.ToSlash(given) + `"}`, "", "", `^mine\.csv: no such file`},
		{"nothing", "{}", "", "", `does not know "nothing"`},
		{"about?x", "{}", "", "", `does not know "about\?x"`},
	} {
		w := ask(t, h, at+tt.method, tt.question, tt.name, tt.content)
		got := w.Body.String()
		if w.Code == http.StatusOK {
			var head struct{ JSON json.RawMessage }
			must.Succeed(t, json.Unmarshal([]byte(strings.SplitN(got, "\n", 2)[0]), &head))
			got = string(head.JSON)
		}
		if !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("%s %s: %d %.300s; want %s", tt.method, tt.question, w.Code, got, tt.want)
		}
	}
}

// TestNames: a file of any name is opened.
func TestNames(t *testing.T) {
	h := must.Get(handler("", "/", nil))(t)
	for _, name := range []string{`a"b.csv`, `"".csv`, `a\b.csv`, "%22.csv", "a;b=c.csv", "a'b.csv", "a\tb.csv",
		"é\u202e.csv", "=?x?.csv", " .csv", "-.csv", "a:b.csv", "<b>.csv", "a,b.csv"} {
		question := string(must.Get(json.Marshal(map[string]string{"path": name}))(t))
		if w := ask(t, h, "http://127.0.0.1:7/answer/inspect", question, name, "1,0\n0,1\n"); w.Code != http.StatusOK {
			t.Errorf("%q: %d %s", name, w.Code, w.Body)
		}
	}
	for _, name := range []string{"..", ".", "/", "a/..", "a\x00.csv", strings.Repeat("x", 300) + ".csv"} {
		question := string(must.Get(json.Marshal(map[string]string{"path": name}))(t))
		w := ask(t, h, "http://127.0.0.1:7/answer/inspect", question, name, "1,0\n0,1\n")
		w2 := ask(t, h, "http://127.0.0.1:7/answer/inspect", question, "", "")
		if said := w.Body.String() + w2.Body.String(); w.Code == http.StatusOK || w2.Code == http.StatusOK ||
			strings.Contains(said, filepath.Clean(os.TempDir())) {
			t.Errorf("%.20q: %s", name, said)
		}
	}
	if w := ask(t, h, "http://127.0.0.1:7/answer/inspect", `{"path":"../../a.csv"}`, "../../a.csv",
		"1,0\n0,1\n"); w.Code != http.StatusOK {
		t.Errorf("a path: %d %s", w.Code, w.Body) // which stays in the folder of the question
	}
}

// TestSilence: a request that does not go on ends, here and elsewhere, and so does a connection
// without one.
func TestSilence(t *testing.T) {
	t.Parallel()
	started := make(chan string, 1)
	go Explorer(t.Context(), "", 0, nil, func(url string) { started <- url })
	at := must.Get(url.Parse(<-started))(t)
	head := "POST %s HTTP/1.1\r\nHost: " + at.Host + "\r\n"
	const body = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100\r\n\r\n--x\r\n"
	var all sync.WaitGroup
	for name, sent := range map[string]string{"nothing": "", "half a head": fmt.Sprintf(head, "/"),
		"half a question":   fmt.Sprintf(head, at.Path+"answer/about") + body,
		"half of elsewhere": fmt.Sprintf(head, "/x") + body} {
		all.Go(func() {
			c, err := net.Dial("tcp", at.Host)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, sent)
			c.SetReadDeadline(time.Now().Add(2 * silence))
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}

// TestExplorer: the server is reached at the address that it says, until the context ends.
func TestExplorer(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	started, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- Explorer(ctx, "", 0, nil, func(url string) { started <- url }) }()
	url := <-started
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/[A-Z2-7]{20,}/$`).MatchString(url) {
		t.Errorf("it is at %s", url)
	}
	r, err := http.Get(url)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", r, err)
	}
	r.Body.Close()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if err := Explorer(context.Background(), "", -1, nil, nil); err == nil {
		t.Error("it serves at port -1")
	}
}
