package manual

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

// nasty is text that roff takes for something else unless it is escaped.
const nasty = `.dots and 'quotes' and "more" \n \(bu --flag ~x^2 ` + "`code`" + ` σ – 😀 #.`

type runCmd struct {
	File   string        `arg:"" help:"A file."`
	Mode   string        `enum:"fast,slow" default:"fast" help:"How."`
	Codes  []string      `enum:"fast,slow" default:"fast" help:"Several."`
	Count  int           `short:"n" default:"3" help:"How many, by default three (default: ${default})."`
	Wait   time.Duration `default:"1s" help:"How long."`
	Text   string        `help:"A text."`
	Where  string        `placeholder:"FOLDER" help:"Where."`
	Quiet  bool          `short:"q" help:"Nothing."`
	Secret bool          `hidden:"" help:"Not shown."`
}

func (runCmd) Help() string {
	return nasty + "\n\nExample, of one:\n\n  tool run 'a b' --mode slow\n\nMore:\n\n  tool run .x"
}

type app struct {
	Global string   `default:"x" help:"For all commands."`
	Run    runCmd   `cmd:"" help:"Run it."`
	Old    struct{} `cmd:"" hidden:"" help:"Not shown."`
	Bare   struct{} `cmd:"" help:"Without details."`
}

func newManual(t *testing.T) *Manual {
	t.Helper()
	k, err := kong.New(&app{}, kong.Name("tool"), kong.Description("Does things.\n\nAll of them: "+nasty))
	if err != nil {
		t.Fatal(err)
	}
	return &Manual{App: k.Model, Version: "1.2.0", ExitStatus: []Entry{{"0", "Done."}}, Environment: []Entry{{"X", "Changes it."}}}
}

// TestPages: the pages are as they were looked at.
func TestPages(t *testing.T) {
	m := newManual(t)
	if got := strings.Join(m.Names(), " "); got != "tool tool-run tool-bare" {
		t.Fatalf("pages %s", got)
	}
	for _, name := range m.Names() {
		got, err := m.Page(name)
		if err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name + ".1"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", path, diff)
		}
	}
	if _, err := m.Page("tool-old"); err == nil || !strings.Contains(err.Error(), "tool, tool-run, tool-bare") {
		t.Errorf("no page: %v", err)
	}
}

// overstruck is a character that is printed twice, which makes it bold, or over a line.
var overstruck = regexp.MustCompile(".\x08")

// TestRendered: groff prints all characters of a text as they are, and warns of nothing.
func TestRendered(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff, which renders pages, is not installed")
	}
	m := newManual(t)
	for _, name := range m.Names() {
		page, err := m.Page(name)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(groff, "-man", "-Tutf8", "-P-c", "-wall", "-rLL=400n")
		c.Stdin = strings.NewReader(page)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil || errs.Len() > 0 {
			t.Errorf("%s: %v, %s", name, err, errs.String())
		}
		printed := overstruck.ReplaceAllString(out.String(), "")
		for _, want := range []string{nasty, "'a b' --mode slow", "tool run .x", "-n, --count=NUMBER", "--mode=fast|slow"} {
			if strings.Contains(page, "Without") || name == "tool" && want != nasty {
				continue
			}
			if !strings.Contains(printed, want) {
				t.Errorf("%s is printed as\n%s\nwithout %s", name, printed, want)
			}
		}
	}
}
