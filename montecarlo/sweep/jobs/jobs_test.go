package jobs

import (
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

// TestSlurm: a shell reads the script, with the names that it was given; no program takes one for an
// option.
func TestSlurm(t *testing.T) {
	for _, tt := range []struct {
		change     func(*Job)
		want, lack []string
	}{
		{func(*Job) {}, []string{
			`sweep 'my plans/it'\''s.json' --out 'my results' --shard "$SLURM_ARRAY_TASK_ID/8" --workers=4 &`,
			"#SBATCH --array=1-8\n", "#SBATCH --job-name=belsim-0123456789ab\n", `sbatch 'it'\''s.sh'`,
		}, []string{"--gres", "MaxArraySize"}},
		{func(j *Job) { j.GPU, j.Shards = true, 1001 }, []string{"#SBATCH --gres=gpu:1\n", "MaxArraySize"}, nil},
		{func(j *Job) { j.PlanPath, j.Folder = "-rf.json", "-results" }, []string{
			"sweep ./-rf.json --out ./-results --shard", "sbatch ./-rf.sh\n",
			"belsim sweep ./-rf.json --out ./-results --shards 8 --print missing",
		}, nil},
	} {
		j := job()
		tt.change(&j)
		script := must.Get(j.Slurm())(t)
		for _, want := range tt.want {
			if !strings.Contains(script, want) {
				t.Errorf("the script lacks %q:\n%s", want, script)
			}
		}
		for _, lack := range tt.lack {
			if strings.Contains(script, lack) {
				t.Errorf("the script has %q:\n%s", lack, script)
			}
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			t.Skip("no bash reads the script here")
		}
		check := exec.Command(bash, "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil {
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
