package table

import (
	"fmt"
	"io"
	"strings"
)

// latex prints the table as a tabular of the package booktabs. pdflatex compiles it.
func (t *Table) latex(w io.Writer) error {
	lines, width := t.grid(escapeLaTeX)
	if len(width) == 0 {
		return nil
	}
	columns := ""
	for k := range width {
		columns += map[bool]string{true: "r", false: "l"}[t.right(k)]
	}
	text := `\begin{tabular}{` + columns + "}\n\\toprule\n"
	for i, cells := range lines {
		if i > 0 || t.Head != nil {
			text += strings.Join(cells, " & ") + " \\\\\n"
		}
		if i == 0 && t.Head != nil {
			text += "\\midrule\n"
		}
	}
	_, err := io.WriteString(w, text+"\\bottomrule\n\\end{tabular}\n")
	return err
}

// signs reports whether the hyphen at an index is the sign of a negative number: at the start of a cell or after a space or
// parenthesis, before a digit. In LaTeX a plain "-" is a hyphen.
func signs(s string, i int) bool {
	return (i == 0 || strings.IndexByte(" (", s[i-1]) >= 0) && strings.IndexAny(s[i+1:], "0123456789") == 0
}

// escapeLaTeX writes a text for LaTeX with the fonts that it starts with. A character
// that they lack is written as its code point.
func escapeLaTeX(s string) string {
	var b strings.Builder
	last := rune(0)
	for i, r := range s {
		if r == '-' && signs(s, i) {
			r = '−'
		}
		if r == '-' && last == '-' {
			b.WriteString("{}") // two hyphens are a dash
		}
		last = r
		switch t, ok := inLaTeX[r]; {
		case ok:
			b.WriteString(t)
		case r >= ' ' && r < 0x7f || r >= 'À' && r <= 'ÿ' && !strings.ContainsRune("ÐðÞþ", r):
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "U+%04X", r)
		}
	}
	return b.String()
}

// inLaTeX has the characters that are special to LaTeX, or not in its text fonts. A "[" or
// a "*" could be taken for an argument of the line break before it.
var inLaTeX = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '&': `\&`, '%': `\%`, '$': `\$`, '#': `\#`, '_': `\_`,
	'~': `\textasciitilde{}`, '^': `\textasciicircum{}`, '<': `$<$`, '>': `$>$`, '|': `$|$`, '"': `''`, '`': `\textquoteleft{}`,
	'[': `{[}`, ']': `{]}`, '*': `{*}`,
	'–': `--`, '—': `---`, '−': `$-$`, '±': `$\pm$`, '×': `$\times$`, '÷': `$\div$`, '·': `$\cdot$`, '°': `$^\circ$`,
	'≤': `$\le$`, '≥': `$\ge$`, '≠': `$\ne$`, '≈': `$\approx$`, '∞': `$\infty$`, '→': `$\to$`, '√': `$\surd$`, '…': `\dots{}`,
	'Σ': `$\Sigma$`, 'Δ': `$\Delta$`, 'Φ': `$\Phi$`, 'Ω': `$\Omega$`, '∑': `$\sum$`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\varepsilon$`, 'η': `$\eta$`, 'θ': `$\theta$`,
	'κ': `$\kappa$`, 'λ': `$\lambda$`, 'μ': `$\mu$`, 'µ': `$\mu$`, 'ν': `$\nu$`, 'π': `$\pi$`, 'ρ': `$\rho$`, 'σ': `$\sigma$`,
	'τ': `$\tau$`, 'φ': `$\varphi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`, 'ω': `$\omega$`,
	'²': `$^2$`, '³': `$^3$`, '¹': `$^1$`, '‘': "\\textquoteleft{}", '’': "'", '“': "``", '”': "''", 0xa0: "~",
}
