package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"belsim/montecarlo/sweep"
)

// slurmScript is a batch script for an array of shards. The program is not the script's
// own process: Slurm ends a job whose batch script died, and only a script that lives can
// put the job back into the queue. SIGUSR1 comes a minute before the end of --time.
var slurmScript = template.Must(template.New("slurm").Parse(`#!/bin/bash
# {{.Cells}} cells of {{.Plan}} in {{.Shards}} shards. To submit it, and what is missing afterwards once more:
#
#     sbatch {{.Script}}
#     sbatch --array="$(belsim merge {{.Out}} --list-missing --shards {{.Shards}})" {{.Script}}
#     belsim merge {{.Out}} -o map.csv
#
# --time, --mem, --cpus-per-task and --partition are yours to add.
{{- if gt .Shards 1000}} Many clusters have no
# array of more than 1000 tasks: MaxArraySize in 'scontrol show config'.{{end}}
#SBATCH --job-name=belsim-{{.Name}}
#SBATCH --array=1-{{.Shards}}
#SBATCH --signal=B:USR1@60
#SBATCH --requeue
#SBATCH --open-mode=append
{{- if .GPU}}
#SBATCH --gres=gpu:1{{end}}

"${BELSIM:-belsim}" sweep {{.Plan}} --out {{.Out}} --shard "$SLURM_ARRAY_TASK_ID/{{.Shards}}"{{range .Flags}} {{.}}{{end}} &
belsim=$!
# Passed on to belsim, which makes what it finished safe and exits with 143. wait ends
# with the signal, before belsim does. SIGTERM Slurm sends to belsim itself.
trap 'signalled=1; kill -USR1 $belsim' USR1
while
	signalled=
	wait $belsim
	status=$?
	[ -n "$signalled" ]
do :; done
if [ $status = 143 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
	sleep 30 # until Slurm ends this script
fi
exit $status
`))

// kubernetesJob is an Indexed Job with the plan beside it. Strings are in quotes as
// JSON has them, which YAML reads.
var kubernetesJob = template.Must(template.New("kubernetes").Parse(`# {{.Cells}} cells of {{.Plan}} in {{.Shards}} shards, for Kubernetes 1.33 or later. Kubernetes gives every
# pod JOB_COMPLETION_INDEX, from 0 on. The claim belsim-results is yours to make, and must
# be one that all pods can write to; files that the plan names lie in it.
apiVersion: v1
kind: ConfigMap
metadata:
  name: belsim-{{.Name}}
data:
  plan.json: {{.Text}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: belsim-{{.Name}}
  labels:
    app.kubernetes.io/name: belsim
spec:
  completionMode: Indexed
  completions: {{.Shards}}
  parallelism: {{.Shards}}
  backoffLimitPerIndex: 3
  maxFailedIndexes: {{.Shards}}
  podReplacementPolicy: Failed
  podFailurePolicy:
    rules:
      # An eviction, a preemption or a drained node is not the shard's failure, and neither
      # is the exit code of a shard that was told to stop.
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
            status: "True"
      - action: Ignore
        onExitCodes:
          containerName: belsim
          operator: In
          values: [143]
      # A wrong plan stays wrong.
      - action: FailIndex
        onExitCodes:
          containerName: belsim
          operator: In
          values: [2]
  template:
    metadata:
      labels:
        app.kubernetes.io/name: belsim
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      containers:
        - name: belsim
          image: {{.Image}}
          workingDir: /results
          command: ["belsim", "sweep", "/plan/plan.json", "--out", {{.Folder}}, "--shards", "{{.Shards}}"{{range .Flags}}, "{{.}}"{{end}}]
          resources:
            requests:
              cpu: "1"
              memory: 1Gi
            limits:
              memory: 1Gi
{{- if .GPU}}
              nvidia.com/gpu: 1{{end}}
          volumeMounts:
            - name: plan
              mountPath: /plan
            - name: results
              mountPath: /results
      volumes:
        - name: plan
          configMap:
            name: belsim-{{.Name}}
        - name: results
          persistentVolumeClaim:
            claimName: belsim-results
`))

// printJob prints what an engine needs to run the plan in shards.
func (cmd *sweepCmd) printJob(env *environment, f *planFile, s *sweep.Sweep) error {
	switch {
	case cmd.Shards < 1:
		return fmt.Errorf("--print %s: want --shards N, the number of parts", cmd.Print)
	case cmd.Shard != "" || cmd.List:
		return fmt.Errorf("--print %s is for all shards; want neither --shard nor --list", cmd.Print)
	case cmd.Out == "":
		return fmt.Errorf("--print %s: want --out, a folder that all shards can write to", cmd.Print)
	}
	if cmd.GPU {
		if env.given["backend"] && cmd.Backend != "cuda" {
			return fmt.Errorf("--gpu --backend %s: a GPU for each shard that none would use", cmd.Backend)
		}
		cmd.Backend = "cuda"
	}
	job := struct {
		Plan, Out, Script, Name, Text, Image, Folder string
		Shards, Cells                                int
		GPU                                          bool
		Flags                                        []string // letters and digits that nothing has to quote
	}{
		Plan: quoted([]string{f.path})[0], Out: quoted([]string{cmd.Out})[0], Name: s.ID[:12],
		Shards: cmd.Shards, Cells: s.Tasks(), GPU: cmd.GPU,
	}
	if env.given["workers"] {
		job.Flags = append(job.Flags, fmt.Sprintf("--workers=%d", cmd.Workers))
	}
	if env.given["backend"] || cmd.GPU {
		job.Flags = append(job.Flags, "--backend="+cmd.Backend)
	}
	if env.given["flush-every"] {
		job.Flags = append(job.Flags, fmt.Sprintf("--flush-every=%v", cmd.FlushEvery))
	}
	if cmd.Quiet {
		job.Flags = append(job.Flags, "--quiet")
	}
	for _, text := range []string{f.path, cmd.Out} {
		if strings.ContainsAny(text, "\r\n") {
			return fmt.Errorf("%q: no job can be printed for a name with a line break", text)
		}
	}
	if cmd.Print == "slurm" {
		job.Script = quoted([]string{filepath.Base(stem(f.path)) + ".sh"})[0]
		return outside(slurmScript.Execute(env.stdout, job))
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("reading plan: %w", err)
	}
	const most = 1 << 20
	if len(text) > most {
		return fmt.Errorf("%s: %d bytes; Kubernetes takes plans of at most %d", f.path, len(text), most)
	}
	for _, v := range []struct {
		to   *string
		from string
	}{{&job.Text, string(text)}, {&job.Image, cmd.Image}, {&job.Folder, cmd.Out}} {
		q, err := json.Marshal(v.from)
		if err != nil {
			return errors.Join(errors.New("quoting for YAML"), err)
		}
		*v.to = string(q)
	}
	return outside(kubernetesJob.Execute(env.stdout, job))
}
