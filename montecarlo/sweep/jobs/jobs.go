// Package jobs writes what engines of clusters need to run a sweep in shards: the script
// of a Slurm array, and the manifest of a Kubernetes Indexed Job. They are made from the
// templates slurm.sh.tmpl and kubernetes.yaml.tmpl.
package jobs

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// Job describes a sweep in shards. The templates are filled in with its values.
type Job struct {
	PlanPath string // the plan file, as the machines of a Slurm cluster find it
	PlanText string // its contents, which Kubernetes takes along
	PlanID   string
	Cells    int
	Shards   int
	Folder   string   // of the results; all shards can write to it
	GPU      bool     // each shard gets a GPU
	Image    string   // the container image, for Kubernetes
	Flags    []string // further flags of belsim sweep, made of characters that need no quotes
}

// The program is not the script's own process: Slurm ends a job whose batch script died,
// and only a script that lives can put the job back into the queue. SIGUSR1 comes a minute
// before the end of --time.
//
//go:embed slurm.sh.tmpl
var slurmText string

// Strings are in quotes as JSON has them, which YAML reads.
//
//go:embed kubernetes.yaml.tmpl
var kubernetesText string

// maxConfigMap is the largest plan that a ConfigMap holds, in bytes.
const maxConfigMap = 1 << 20

// Slurm returns a batch script for an array of shards, with one task for each. The error says
// that a name has a control character.
func (j Job) Slurm() (string, error) { return j.fill("slurm", slurmText) }

// Kubernetes returns an Indexed Job, with one index for each shard, and a ConfigMap with the
// plan. The error says that a name has a control character, or that the plan is too large.
func (j Job) Kubernetes() (string, error) {
	if len(j.PlanText) > maxConfigMap {
		return "", fmt.Errorf("%s: %d bytes; Kubernetes takes plans of at most %d", j.PlanPath, len(j.PlanText), maxConfigMap)
	}
	return j.fill("kubernetes", kubernetesText)
}

func (j Job) fill(name, text string) (string, error) {
	for _, name := range []string{j.PlanPath, j.Folder, j.Image} {
		if strings.ContainsFunc(name, unsafe) || !utf8.ValidString(name) {
			return "", fmt.Errorf("%+q: no job can be printed for a name with a line break or another control character", name)
		}
	}
	j.PlanPath, j.Folder = operand(j.PlanPath), operand(j.Folder)
	t, err := template.New(name).Funcs(template.FuncMap{"shell": Quote, "json": quoteJSON}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("the template of the job: %w", err)
	}
	base := filepath.Base(j.PlanPath)
	var out strings.Builder
	err = t.Execute(&out, struct {
		Job
		Name   string // of the job
		Script string // the file that the text is meant for
	}{j, j.PlanID[:min(12, len(j.PlanID))], operand(strings.TrimSuffix(base, filepath.Ext(base)) + ".sh")})
	return out.String(), err
}

// unsafe reports whether a character may end a line, or is not allowed in YAML: the text after
// it would be no comment and no string any more.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff'
}

// operand returns a path that no program takes for an option.
func operand(path string) string {
	if strings.HasPrefix(path, "-") {
		return "./" + path
	}
	return path
}

// Quote returns an argument of a command line as a POSIX shell reads it: in single quotes
// where it has characters that the shell would interpret.
func Quote(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// quoteJSON writes a text in quotes, as both JSON and YAML read it.
func quoteJSON(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("the plan is not text in UTF-8")
	}
	raw, err := json.Marshal(text)
	var b strings.Builder
	for _, r := range string(raw) {
		if unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), err
}
