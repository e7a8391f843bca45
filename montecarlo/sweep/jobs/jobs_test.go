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

// TestSlurm: a shell reads the script, with the names that it was given.
func TestSlurm(t *testing.T) {
	j := job()
	script := must.Get(j.Slurm())(t)
	for _, want := range []string{
		`sweep 'my plans/it'\''s.json' --out 'my results' --shard "$SLURM_ARRAY_TASK_ID/8" --workers=4 &`,
		"#SBATCH --array=1-8\n", "#SBATCH --job-name=belsim-0123456789ab\n", `sbatch 'it'\''s.sh'`,
	} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %q:\n%s", want, script)
		}
	}
	if strings.Contains(script, "--gres") || strings.Contains(script, "MaxArraySize") {
		t.Errorf("8 shards without GPUs:\n%s", script)
	}
	j.GPU, j.Shards = true, 1001
	script = must.Get(j.Slurm())(t)
	if !strings.Contains(script, "#SBATCH --gres=gpu:1\n") || !strings.Contains(script, "MaxArraySize") {
		t.Errorf("1001 shards with GPUs:\n%s", script)
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

// TestDashes: no program takes the name of a file for an option.
func TestDashes(t *testing.T) {
	j := job()
	j.PlanPath, j.Folder = "-rf.json", "-results"
	script := must.Get(j.Slurm())(t)
	for _, want := range []string{"sweep ./-rf.json --out ./-results --shard", "sbatch ./-rf.sh\n",
		"belsim sweep ./-rf.json --out ./-results --shards 8 --print missing"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %q:\n%s", want, script)
		}
	}
}
