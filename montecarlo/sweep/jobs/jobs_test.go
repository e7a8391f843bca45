package jobs

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

func job() Job {
	return Job{
		PlanPath: "my plans/it's.json", PlanID: "0123456789abcdef",
		Cells: 12, Shards: 8, Folder: "my results", Flags: []string{"--workers=4"},
	}
}

// TestSlurm: bash reads the script, and no program takes a name for an option. Scripts of other names are
// golden files of the command.
func TestSlurm(t *testing.T) {
	for _, tt := range []struct {
		change func(*Job)
		want   string
	}{
		{func(*Job) {}, `sweep 'my plans/it'\''s.json' --out 'my results' --shard "$SLURM_ARRAY_TASK_ID/8" --workers=4 &`},
		{func(*Job) {}, `sbatch 'it'\''s.sh'`},
		{func(j *Job) { j.Shards = 1001 }, "MaxArraySize"},
		{func(j *Job) { j.PlanPath, j.Folder = "-rf.json", "-results" },
			"belsim sweep ./-rf.json --out ./-results --shards 8 --print missing"},
	} {
		j := job()
		tt.change(&j)
		script := must.Get(j.Slurm())(t)
		if !strings.Contains(script, tt.want) {
			t.Errorf("the script lacks %q:\n%s", tt.want, script)
		}
		check := exec.Command("bash", "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("bash: %v: %s", err, out)
		}
	}
}

// TestRefused: a name that ends a line would be no comment any more, and one that turns it around
// would look like another one.
func TestRefused(t *testing.T) {
	for _, name := range []string{"a\nb", "a\rb", "a\u0085b", "a\x1bb", "a\x7fb", "a\xffb", "a\u202eb", "a\u2066b",
		"a\u200fb", "a\u2028b"} {
		for what, set := range map[string]func(*Job){"plan": func(j *Job) { j.PlanPath = name + ".json" },
			"folder": func(j *Job) { j.Folder = name }} {
			broken := job()
			set(&broken)
			if text, err := broken.Slurm(); text != "" || err == nil || !strings.Contains(err.Error(), "not seen") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}
