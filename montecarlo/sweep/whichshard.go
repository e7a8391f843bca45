package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// WhichShard returns the number i, from 1, of the shard to compute, and the number n of
// shards. shard is the value of --shard, i/N or empty; shards is the value of --shards, or 0.
// Where shard is empty, the environment gives the numbers: the variables of a Slurm array, or
// the index of a Kubernetes Job. Where neither gives them, the shard is the whole sweep, 1 of
// 1. The error names the values that contradict each other.
func WhichShard(shard string, shards int, getenv func(string) string) (i, n int, err error) {
	env := environment(getenv)
	switch {
	case shards < 0:
		return 0, 0, fmt.Errorf("%d shards: want 1 or more", shards)
	case shard != "":
		i, n, err = parseShard(shard)
		if err == nil && shards != 0 && shards != n {
			err = fmt.Errorf("shard %s and %d shards disagree; the former alone is enough", shard, shards)
		}
		return i, n, err
	case env.has("SLURM_ARRAY_TASK_ID"):
		return env.slurmShard(shards)
	case env.has("JOB_COMPLETION_INDEX"):
		return env.kubernetesShard(shards)
	case shards > 1:
		return 0, 0, fmt.Errorf("%d shards do not say which one to compute; want shard i/%d, or SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the environment", shards, shards)
	}
	return 1, 1, nil
}

// parseShard reads i/N.
func parseShard(text string) (i, n int, err error) {
	first, second, found := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	if !found || err1 != nil || err2 != nil || i < 1 || n < 1 || i > n {
		return 0, 0, fmt.Errorf("shard %s: want i/N, part i of N, from 1/N to N/N", text)
	}
	return i, n, nil
}

// environment returns the values of the variables of a process.
type environment func(name string) string

func (get environment) has(name string) bool { return get(name) != "" }

// number is the value of a variable; unset where the process has none.
func (get environment) number(name string, unset int) (int, error) {
	if !get.has(name) {
		return unset, nil
	}
	v, err := strconv.Atoi(get(name))
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%s is %q: want a number from 0", name, get(name))
	}
	return v, nil
}

// kubernetesShard takes the shard from the index of a Job, which is from 0.
func (get environment) kubernetesShard(shards int) (i, n int, err error) {
	index, err := get.number("JOB_COMPLETION_INDEX", 0)
	switch {
	case err != nil:
		return 0, 0, err
	case shards == 0:
		return 0, 0, fmt.Errorf("JOB_COMPLETION_INDEX is %d, but nothing says how many shards there are; want their number, the completions of the Job", index)
	case index >= shards:
		return 0, 0, fmt.Errorf("JOB_COMPLETION_INDEX is %d: with %d shards it is 0 to %d", index, shards, shards-1)
	}
	return index + 1, shards, nil
}

// slurmShard takes the shard from the variables of an array: its task is the shard where the
// number of shards is known, else the place of the task in the array. An array with gaps, such
// as one of the shards that are missing, does not tell how many shards there are.
func (get environment) slurmShard(shards int) (i, n int, err error) {
	id, err := get.number("SLURM_ARRAY_TASK_ID", 0)
	switch {
	case err != nil:
		return 0, 0, err
	case shards > 0 && (id < 1 || id > shards):
		return 0, 0, fmt.Errorf("SLURM_ARRAY_TASK_ID is %d: with %d shards the array must have the numbers 1 to %d", id, shards, shards)
	case shards > 0:
		return id, shards, nil
	case !get.has("SLURM_ARRAY_TASK_COUNT"):
		return 0, 0, fmt.Errorf("SLURM_ARRAY_TASK_ID is %d, but SLURM_ARRAY_TASK_COUNT is not set; want the number of shards", id)
	}
	var count, first, step, last int
	for _, v := range []struct {
		to    *int
		name  string
		unset int
	}{{&count, "SLURM_ARRAY_TASK_COUNT", 0}, {&first, "SLURM_ARRAY_TASK_MIN", 1}, {&step, "SLURM_ARRAY_TASK_STEP", 1}, {&last, "SLURM_ARRAY_TASK_MAX", 0}} {
		if *v.to, err = get.number(v.name, v.unset); err != nil {
			return 0, 0, err
		}
	}
	step = max(step, 1)
	i = (id-first)/step + 1
	gaps := count == 1 && first > 1 || (id-first)%step != 0 || get.has("SLURM_ARRAY_TASK_MAX") && (last-first)/step+1 != count
	if gaps || i < 1 || i > count {
		return 0, 0, fmt.Errorf("the numbers of the array (%d tasks from %d on) do not tell the shard of task %d; want the number N of shards, and --array=1-N or a part of it", count, first, id)
	}
	return i, count, nil
}
