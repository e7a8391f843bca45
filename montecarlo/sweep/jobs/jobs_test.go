package jobs

import (
	"os/exec"
	"strings"
	"testing"
)

func job() Job {
	return Job{
		PlanPath: "my plans/it's.json", PlanText: "{\"codes\": [\"unary\"]}\n", PlanID: "0123456789abcdef",
		Cells: 12, Shards: 8, Folder: "my results", Image: "belsim:latest", Flags: []string{"--workers=4"},
	}
}

func must(t *testing.T) func(text string, err error) string {
	return func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

// TestSlurm: a shell reads the script, with the names that it was given.
func TestSlurm(t *testing.T) {
	j := job()
	script := must(t)(j.Slurm())
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
	script = must(t)(j.Slurm())
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
	manifest := must(t)(j.Kubernetes())
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
	if manifest = must(t)(j.Kubernetes()); !strings.Contains(manifest, "\n              nvidia.com/gpu: 1\n") {
		t.Errorf("no GPU:\n%s", manifest)
	}
}

func TestRefused(t *testing.T) {
	large := job()
	large.PlanText = strings.Repeat(" ", maxConfigMap+1)
	if text, err := large.Kubernetes(); text != "" || err == nil || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("a large plan: %v", err)
	}
	broken := job()
	broken.Folder = "a\nb"
	if text, err := broken.Slurm(); text != "" || err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a folder with a line break: %v", err)
	}
}
