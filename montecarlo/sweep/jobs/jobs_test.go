package jobs

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"belsim/theory/base/must"
)

func job() Job {
	return Job{
		PlanPath: "my plans/it's.json", PlanText: "{\"codes\": [\"unary\"]}\n", PlanID: "0123456789abcdef",
		Cells: 12, Shards: 8, Folder: "my results", Image: "belsim:latest", Flags: []string{"--workers=4"},
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

func TestKubernetes(t *testing.T) {
	j := job()
	manifest := must.Get(j.Kubernetes())(t)
	for _, want := range []string{
		`  plan.json: "{\"codes\": [\"unary\"]}\n"` + "\n", "  completions: 8\n", `image: "belsim:latest"`,
		`command: ["belsim", "sweep", "/plan/plan.json", "--out", "my results", "--shards", "8", "--workers=4"]`,
	} {
		if !strings.Contains(manifest, want) {
			t.Errorf("the manifest lacks %q:\n%s", want, manifest)
		}
	}
	if strings.Contains(manifest, "nvidia.com/gpu") {
		t.Error("a GPU that nobody asked for")
	}
	j.GPU = true
	if manifest = must.Get(j.Kubernetes())(t); !strings.Contains(manifest, "\n              nvidia.com/gpu: 1\n") {
		t.Errorf("no GPU:\n%s", manifest)
	}
}

func TestRefused(t *testing.T) {
	large := job()
	large.PlanText = strings.Repeat(" ", maxConfigMap+1)
	if text, err := large.Kubernetes(); text != "" || err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("a large plan: %v", err)
	}
	for _, name := range []string{"a\nb", "a\rb", "a\u2028b", "a\u2029b", "a\u0085b", "a\x1bb", "a\x7fb", "a\xffb", "a\ufeffb"} {
		for what, set := range map[string]func(*Job){
			"plan": func(j *Job) { j.PlanPath = name + ".json" }, "folder": func(j *Job) { j.Folder = name }, "image": func(j *Job) { j.Image = name },
		} {
			broken := job()
			set(&broken)
			for engine, fill := range map[string]func() (string, error){"slurm": broken.Slurm, "kubernetes": broken.Kubernetes} {
				if text, err := fill(); text != "" || err == nil || !strings.Contains(err.Error(), "control character") {
					t.Errorf("%s, %s %q: %v", engine, what, name, err)
				}
			}
		}
	}
}

// TestPlanText: the manifest has the plan's bytes, without a character that YAML refuses or takes
// for the end of a line.
func TestPlanText(t *testing.T) {
	j := job()
	j.PlanText = "{\"names\": \"é \u2028 \u2029 \u0085 \x7f \ufeff \uffff 😀\"}\n"
	manifest := must.Get(j.Kubernetes())(t)
	if at := strings.IndexFunc(strings.ReplaceAll(manifest, "\n", ""), unsafe); at >= 0 {
		t.Errorf("the manifest has %q", manifest[at:at+4])
	}
	_, rest, _ := strings.Cut(manifest, "plan.json: ")
	line, _, _ := strings.Cut(rest, "\n")
	var text string
	if err := json.Unmarshal([]byte(line), &text); err != nil || text != j.PlanText {
		t.Errorf("%q, %v; want %q", text, err, j.PlanText)
	}
	j.PlanText = "\xff"
	if _, err := j.Kubernetes(); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a plan that is not UTF-8: %v", err)
	}
}

// TestDashes: no program takes the name of a file for an option.
func TestDashes(t *testing.T) {
	j := job()
	j.PlanPath, j.Folder = "-rf.json", "-results"
	script := must.Get(j.Slurm())(t)
	for _, want := range []string{"sweep ./-rf.json --out ./-results --shard", "sbatch ./-rf.sh\n", "belsim merge ./-results --list-missing"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %q:\n%s", want, script)
		}
	}
	if manifest := must.Get(j.Kubernetes())(t); !strings.Contains(manifest, `"--out", "./-results"`) {
		t.Errorf("the manifest:\n%s", manifest)
	}
}
