package browser

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSite opens each page of the site in the folder $BELSIM_SITE, which .ci/release makes, follows each
// link, and searches. No page may have a missing picture, or an error on its console.
func TestSite(t *testing.T) {
	folder := os.Getenv("BELSIM_SITE")
	if folder == "" {
		t.Skip("BELSIM_SITE names no site")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	type content struct{ Links, Names, Missing []string }
	pages := map[string]content{}
	p := blank(t, 1300, 900)
	complaints := func(page string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, text := range p.errors {
			t.Errorf("%s, on the console: %s", page, text)
		}
		p.errors = nil
	}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		name := filepath.ToSlash(get(filepath.Rel(folder, path))(t))
		if err != nil || filepath.Ext(path) != ".html" || name == "404.html" || // whose links are those of a server
			name == "notebooks/explorer.html" { // notebook 2 shows it
			return err
		}
		p.do(chromedp.Navigate(server.URL + "/" + name))
		if name == "explorer.html" {
			p.settle()
		}
		p.wait("document.readyState == 'complete'")
		pages[name] = value[content](p, `{
			Links: [...document.links].map(a => a.href),
			Names: [...document.querySelectorAll('[id]')].map(e => e.id),
			Missing: [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)}`)
		complaints(name)
		return nil
	})
	nav := get(os.ReadFile("../../../.ci/site/mkdocs.yml"))(t)
	if want := len(regexp.MustCompile(`(?m)^ +- .*\.(md|ipynb|html)$`).FindAll(nav, -1)); err != nil || len(pages) < want {
		t.Fatalf("%d pages, want %d or more, as the navigation has: %v", len(pages), want, err)
	}
	for name, page := range pages {
		for _, picture := range page.Missing {
			t.Errorf("%s lacks the picture %s", name, picture)
		}
		for _, link := range page.Links {
			to, ok := strings.CutPrefix(link, server.URL+"/")
			if !ok {
				continue // elsewhere
			}
			u := get(url.Parse(to))(t)
			file := u.Path
			if file == "" || strings.HasSuffix(file, "/") {
				file += "index.html"
			}
			if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(file))); err != nil {
				t.Errorf("%s links to %s: %v", name, to, err)
			} else if target, ok := pages[file]; ok && u.Fragment != "" && file != "explorer.html" &&
				!slices.Contains(target.Names, u.Fragment) {
				t.Errorf("%s links to %s, which has no %q", name, file, u.Fragment)
			}
		}
	}
	p.do(chromedp.Navigate(server.URL + "/index.html"))
	p.wait("document.querySelector('.md-search__input')")
	p.eval(`{
		const input = document.querySelector('.md-search__input')
		input.focus()
		input.value = 'hadamard'
		input.dispatchEvent(new Event('keyup'))
		input.dispatchEvent(new Event('input'))
	}`)
	p.wait("document.querySelectorAll('.md-search-result__item').length > 2")
	complaints("the search")
}
