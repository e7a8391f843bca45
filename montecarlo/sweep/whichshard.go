package sweep

import (
	"fmt"
	"strconv"
)

// WhichShard returns the number i, from 1, of the shard to compute, and the number n of
// shards. shard is the value of --shard, i/N or empty; shards is the value of --shards, or 0.
// Where shard is empty, shards is n, and the environment says i: the task of a Slurm array from 1 to n, or
// the index of a Kubernetes Job from 0. Where nothing is given, the shard is the whole sweep, 1 of
// 1. The error names the values that contradict each other.
func WhichShard(shard string, shards int, getenv func(string) string) (i, n int, err error) {
	if shards < 0 {
		return 0, 0, fmt.Errorf("%d shards: want 1 or more", shards)
	}
	if shard != "" {
		i, n, err = parseShard(shard)
		if err == nil && shards != 0 && shards != n {
			err = fmt.Errorf("shard %s and %d shards disagree; the former alone is enough", shard, shards)
		}
		return i, n, err
	}
	for _, engine := range []struct {
		variable string
		first    int
	}{{"SLURM_ARRAY_TASK_ID", 1}, {"JOB_COMPLETION_INDEX", 0}} {
		text := getenv(engine.variable)
		if text == "" {
			continue
		}
		if shards == 0 {
			return 0, 0, fmt.Errorf("%s is %s, but nothing says how many shards there are; want their number, or shard i/N", engine.variable, text)
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < engine.first || i-engine.first >= shards {
			return 0, 0, fmt.Errorf("%s is %q: with %d shards it is %d to %d", engine.variable, text, shards, engine.first, engine.first+shards-1)
		}
		return i - engine.first + 1, shards, nil
	}
	if shards > 1 {
		return 0, 0, fmt.Errorf("%d shards do not say which one to compute; want shard i/%d, or SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the environment", shards, shards)
	}
	return 1, 1, nil
}

// parseShard reads i/N.
func parseShard(text string) (i, n int, err error) {
	_, err = fmt.Sscanf(text, "%d/%d", &i, &n)
	if err != nil || text != fmt.Sprintf("%d/%d", i, n) || i < 1 || i > n {
		return 0, 0, fmt.Errorf("shard %s: want i/N, part i of N, from 1/N to N/N", text)
	}
	return i, n, nil
}
