package sweep

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhichShard(t *testing.T) {
	type env map[string]string
	for _, tt := range []struct {
		shard  string
		shards int
		env    env
		want   string
	}{
		{"", 0, nil, "1/1"},
		{"3/8", 0, env{"SLURM_ARRAY_TASK_ID": "5"}, "3/8"},
		{"", 8, env{"SLURM_ARRAY_TASK_ID": "7"}, "7/8"},
		{"", 4, env{"JOB_COMPLETION_INDEX": "0"}, "1/4"},
		{"", 4, env{"JOB_COMPLETION_INDEX": "3"}, "4/4"},
		{"0/4", 0, nil, "shard 0/4: want i/N"},
		{"5/4", 0, nil, "shard 5/4: want i/N"},
		{"3", 0, nil, "shard 3: want i/N"},
		{"1/2", 3, nil, "disagree"},
		{"", -1, nil, "-1 shards"},
		{"", 8, nil, "do not say which one"},
		{"", 0, env{"SLURM_ARRAY_TASK_ID": "5"}, "nothing says how many shards"},
		{"", 8, env{"SLURM_ARRAY_TASK_ID": "x"}, `SLURM_ARRAY_TASK_ID is "x"`},
		{"", 8, env{"SLURM_ARRAY_TASK_ID": "9"}, "1 to 8"},
		{"", 0, env{"JOB_COMPLETION_INDEX": "3"}, "nothing says how many shards"},
		{"", 3, env{"JOB_COMPLETION_INDEX": "3"}, "0 to 2"},
	} {
		i, n, err := WhichShard(tt.shard, tt.shards, func(name string) string { return tt.env[name] })
		if got := fmt.Sprintf("%d/%d", i, n); err == nil && got != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("shard %q of %d, %v: %s, %v; want %s", tt.shard, tt.shards, tt.env, got, err, tt.want)
		}
	}
}
