// Package manual makes the pages of the manual, for man(1), of a command line that kong reads. What
// --help says is in them, and what all commands share.
package manual

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Entry is a term of a list with what it means.
type Entry struct{ Term, Text string }

// Manual has a page for a program and one for each of its commands.
type Manual struct {
	App         *kong.Application
	Version     string
	ExitStatus  []Entry
	Environment []Entry
}

// Names are the names of the pages: the program's, and then PROGRAM-COMMAND in the order of --help.
func (m *Manual) Names() []string {
	names := []string{m.App.Name}
	for _, c := range m.commands() {
		names = append(names, m.pageOf(c))
	}
	return names
}

func (m *Manual) commands() []*kong.Node {
	return slices.DeleteFunc(slices.Clone(m.App.Children), func(n *kong.Node) bool { return n.Hidden || n.Type != kong.CommandNode })
}

func (m *Manual) pageOf(command *kong.Node) string { return m.App.Name + "-" + command.Name }

// Page is a page by its name, in the language man of roff. The error lists the names that there are.
func (m *Manual) Page(name string) (string, error) {
	if name == m.App.Name {
		return m.page(m.App.Node, name), nil
	}
	for _, c := range m.commands() {
		if m.pageOf(c) == name {
			return m.page(c, name), nil
		}
	}
	return "", fmt.Errorf("there is no page %s; want one of %s", name, strings.Join(m.Names(), ", "))
}

// page is the page of the program or of a command.
func (m *Manual) page(n *kong.Node, name string) string {
	var p page
	program := n == m.App.Node
	help, detail := n.Help, n.Detail
	if program { // of the program, help is the whole description
		help, detail, _ = strings.Cut(n.Help, "\n\n")
	}
	p.line(".TH", strings.ToUpper(name), "1", "", m.App.Name+" "+m.Version, "Manual of "+m.App.Name)
	p.raw(".nh\n.ad l") // no hyphen in a flag, and no holes between words
	p.section("NAME")
	p.text(name + " - " + strings.TrimSuffix(help, "."))
	p.section("SYNOPSIS")
	usage := m.App.Name
	if rest := strings.TrimSpace(n.Summary()); rest != "" {
		usage += " " + strings.TrimPrefix(rest, m.App.Name+" ")
	}
	p.text(usage)
	p.section("DESCRIPTION")
	if detail == "" {
		detail = help
	}
	p.detail(detail)
	if program {
		p.section("COMMANDS")
		for _, c := range m.commands() {
			p.item(bold(m.pageOf(c))+"(1)", c.Help)
		}
	}
	if len(n.Positional) > 0 {
		p.section("ARGUMENTS")
		for _, a := range n.Positional {
			p.item(italic(a.Name), withDefault(a, a.Help))
		}
	}
	p.section("OPTIONS")
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			p.item(option(f), withDefault(f.Value, f.Help))
		}
	}
	p.list("EXIT STATUS", m.ExitStatus)
	p.list("ENVIRONMENT", m.Environment)
	p.section("SEE ALSO")
	var others []string
	for _, other := range m.Names() {
		if other != name {
			others = append(others, bold(other)+"(1)")
		}
	}
	p.raw(strings.Join(others, ",\n"))
	return p.String()
}

// option is a flag with its value, as in -o, --output=FILE.
func option(f *kong.Flag) string {
	text := bold("--" + f.Name)
	if f.Short != 0 {
		text = bold("-"+string(f.Short)) + ", " + text
	}
	if f.IsBool() || f.IsCounter() {
		return text
	}
	return text + "=" + italic(valueOf(f))
}

// valueOf says what the value of a flag is: its placeholder, else the choice that there is, else the
// kind of value.
func valueOf(f *kong.Flag) string {
	const long = 40 // a choice of so many characters is in the text alone
	switch choice := strings.ReplaceAll(f.Enum, ",", "|"); {
	case f.PlaceHolder != "":
		return f.PlaceHolder
	case choice != "" && len(choice) < long && !f.IsSlice():
		return choice
	case f.Enum != "":
		return "NAME"
	case f.Target.Type() == reflect.TypeFor[time.Duration]():
		return "TIME"
	case f.Target.CanInt(), f.Target.CanUint(), f.Target.CanFloat():
		return "NUMBER"
	}
	return "TEXT"
}

// withDefault adds the default value to a text that does not tell it.
func withDefault(v *kong.Value, text string) string {
	if !v.HasDefault || v.Default == "" || v.IsBool() || strings.Contains(text, "default") {
		return text
	}
	return strings.TrimSuffix(text, ".") + " (default: " + v.Default + ")."
}

// page is a text in roff that grows.
type page struct{ strings.Builder }

// raw adds lines that are roff already.
func (p *page) raw(text string) { p.WriteString(text + "\n") }

// line adds a request with arguments.
func (p *page) line(request string, args ...string) {
	for _, a := range args {
		request += ` "` + escape(a) + `"`
	}
	p.raw(request)
}

func (p *page) section(name string) { p.line(".SH", name) }

// text adds a paragraph. A line of roff is none of input that begins with a control character.
func (p *page) text(text string) { p.raw(escape(strings.Join(strings.Fields(text), " "))) }

// item adds a term, which is roff already, with a text.
func (p *page) item(term, text string) {
	p.raw(".TP")
	p.raw(term)
	p.text(text)
}

func (p *page) list(section string, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	p.section(section)
	for _, e := range entries {
		p.item(bold(e.Term), e.Text)
	}
}

// detail adds paragraphs. Those that begin with two spaces are commands, which stay as they are; the
// first that begins with "Example" begins the section of examples.
func (p *page) detail(text string) {
	examples := false
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "  "):
			p.raw(".PP\n.in +4n\n.nf")
			for _, line := range strings.Split(paragraph, "\n") {
				p.raw(bold(strings.TrimSpace(line)))
			}
			p.raw(".fi\n.in")
			continue
		case !examples && strings.HasPrefix(paragraph, "Example"):
			examples = true
			p.section("EXAMPLES")
			if paragraph == "Example:" || paragraph == "Examples:" {
				continue
			}
		}
		p.raw(".PP")
		p.text(paragraph)
	}
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

func italic(text string) string { return `\fI` + escape(text) + `\fR` }

// special are the characters that roff would take for something else, or print as another one.
var special = map[rune]string{
	'\\': `\e`, '-': `\-`, '~': `\(ti`, '^': `\(ha`, '`': `\(ga`, '\'': `\(aq`, '"': `\(dq`,
}

// escape writes a text so that roff prints it as it is, in any encoding of its input.
func escape(text string) string {
	var b strings.Builder
	if strings.HasPrefix(text, ".") {
		b.WriteString(`\&`) // a line that begins with a point is a request
	}
	for _, r := range text {
		switch s, ok := special[r]; {
		case ok:
			b.WriteString(s)
		case r == '\n':
			b.WriteByte(' ')
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
