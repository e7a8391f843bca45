// Package jobs writes what engines of clusters need to run a sweep in shards: the script
// of a Slurm array, and the manifest of a Kubernetes Indexed Job. They are made from the
// templates slurm.sh.tmpl and kubernetes.yaml.tmpl.
package jobs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"
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
// that a name has a line break.
func (j Job) Slurm() (string, error) { return j.fill("slurm", slurmText) }

// Kubernetes returns an Indexed Job, with one index for each shard, and a ConfigMap with the
// plan. The error says that a name has a line break, or that the plan is too large.
func (j Job) Kubernetes() (string, error) {
	if len(j.PlanText) > maxConfigMap {
		return "", fmt.Errorf("%s: %d bytes; Kubernetes takes plans of at most %d", j.PlanPath, len(j.PlanText), maxConfigMap)
	}
	return j.fill("kubernetes", kubernetesText)
}

func (j Job) fill(name, text string) (string, error) {
	for _, path := range []string{j.PlanPath, j.Folder} {
		if strings.ContainsAny(path, "\r\n") {
			return "", fmt.Errorf("%q: no job can be printed for a name with a line break", path)
		}
	}
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
	}{j, j.PlanID[:min(12, len(j.PlanID))], strings.TrimSuffix(base, filepath.Ext(base)) + ".sh"})
	return out.String(), err
}

// Quote returns an argument of a command line as a POSIX shell reads it: in single quotes
// where it has characters that the shell would interpret.
func Quote(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

func quoteJSON(text string) (string, error) {
	q, err := json.Marshal(text)
	return string(q), err
}
