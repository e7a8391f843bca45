// Package jobs writes what a cluster needs to run a sweep in shards: the script of a Slurm array,
// made from the template slurm.sh.tmpl.
package jobs

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"belsim/theory/base/table"
)

// Job describes a sweep in shards. The template is filled in with its values.
type Job struct {
	PlanPath string // the plan file, as the machines of the cluster find it
	PlanID   string
	Cells    int
	Shards   int
	Folder   string   // of the results; all shards can write to it
	GPU      bool     // each shard gets a GPU
	Flags    []string // further flags of belsim sweep, made of characters that need no quotes
}

// The program is not the script's own process: Slurm ends a job whose batch script died,
// and only a script that lives can put the job back into the queue. SIGUSR1 comes a minute
// before the end of --time.
//
//go:embed slurm.sh.tmpl
var slurmText string

// Slurm returns a batch script for an array of shards, with one task for each. The error says that
// a name has a character that is not seen: the text after it would be no comment any more, or look
// like another one.
func (j Job) Slurm() (string, error) {
	for _, name := range []string{j.PlanPath, j.Folder} {
		if table.Visible(name) != name {
			return "", fmt.Errorf("%+q: a job cannot be printed for a name with a character that is not seen", name)
		}
	}
	j.PlanPath, j.Folder = operand(j.PlanPath), operand(j.Folder)
	t, err := template.New("slurm").Funcs(template.FuncMap{"shell": Quote}).Parse(slurmText)
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
