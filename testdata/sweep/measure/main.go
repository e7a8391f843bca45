// Command measure prints the table of the costs of sweeps in montecarlo/sweep/README.md: the rate
// of one task on one core and of two on two, and what a shard takes beside its cells. Run it from
// the repository's root.
//
// The tasks are processes of the command, because this program measures processes: each has
// its own core, reads the plan, lists its cells and writes a file, as a task of a cluster
// does, and the system counts the processor time of each. The numbers of cells and samples
// come from the library.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"belsim/montecarlo/sweep"
)

// plan is a part of a full map: fewer cells and samples, the same codes and levels.
const plan = `{"codes": ["unary", "johnson", "b1jdj", "b2jdj", "hexj", "gray", "johnson-nonzero"], "levels": [255],
 "r": "0.5:8:4:log", "sigma": "2:16:4:log", "methods": ["mc"], "samples": 6000}`

// cheap is a full map with next to no samples: what remains is the cost of its shards.
const cheap = `{"codes": ["unary", "johnson", "b1jdj", "b2jdj", "hexj", "hadamard", "gray"], "decoders": ["auto", "gen", "gen-ex"], "levels": [255],
 "r": "100:150:60", "sigma": "1:20:60", "methods": ["mc"], "samples": 2}`

const runs = 3

func main() {
	log.SetFlags(0)
	dir, err := os.MkdirTemp("", "belsim-measure")
	check(err)
	defer os.RemoveAll(dir)
	belsim := filepath.Join(dir, "belsim")
	check(exec.Command("go", "build", "-o", belsim, "./cmd/belsim").Run())
	for name, text := range map[string]string{"plan.json": plan, "cheap.json": cheap} {
		check(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	task := func(plan, out string, shard, shards int) *exec.Cmd {
		return exec.Command(belsim, "sweep", filepath.Join(dir, plan), "--out", filepath.Join(dir, out), "--quiet",
			"--backend", "cpu", "--workers", "1", "--shard", fmt.Sprintf("%d/%d", shard, shards))
	}
	// Processor time, of the slower where there are two: a shared machine's clock tells
	// what else it does.
	at := func(tasks, run int) time.Duration {
		var all []*exec.Cmd
		for shard := 1; shard <= tasks; shard++ {
			c := task("plan.json", fmt.Sprintf("r%d-%d", tasks, run), shard, tasks)
			check(c.Start())
			all = append(all, c)
		}
		var longest time.Duration
		for _, c := range all {
			check(c.Wait())
			longest = max(longest, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		}
		return longest
	}
	// The shards of a thousand of a map: every one lists the whole plan, and writes a
	// file. By the clock, since they wait for the disk.
	var shards []time.Duration
	for i := range 21 {
		start := time.Now()
		check(task("cheap.json", "cheap", i+1, 1000).Run())
		shards = append(shards, time.Since(start))
	}
	overhead := slices.Min(shards)
	// The best of several runs in turns.
	one, two := at(1, 0), at(2, 0)
	for i := 1; i < runs; i++ {
		one, two = min(one, at(1, i)), min(two, at(2, i))
	}

	cells, samples := count(filepath.Join(dir, "r1-0"))
	fmt.Printf("%d valid cells, %d samples; a shard's overhead is %.0f ms\n", cells, samples, overhead.Seconds()*1e3)
	fmt.Println("| tasks, a core each | cells/s | samples/s |")
	fmt.Println("| --- | --- | --- |")
	row := func(tasks string, seconds, times float64) {
		fmt.Printf("| %s | %.3g | %.3g million |\n", tasks, times*float64(cells)/seconds, times*float64(samples)/seconds/1e6)
	}
	row("1", one.Seconds(), 1)
	row("2", two.Seconds(), 1)
	// A task that computes for a hundred times its overhead.
	row("1,000, by arithmetic", one.Seconds(), 1000/1.01)
	fmt.Printf("overhead below 1 %% from %.1f s of work, %.3g samples of this plan\n", 100*overhead.Seconds(),
		100*overhead.Seconds()*float64(samples)/one.Seconds())
}

// count returns the valid cells of the results in a folder and the samples in them.
func count(folder string) (cells, samples int) {
	m, err := sweep.Merge(context.Background(), folder, nil)
	check(err)
	check(m.Complete())
	for t := range m.Size() {
		if c := m.Cell(t); c.Valid {
			n, err := c.Samples.Int64()
			check(err)
			cells++
			samples += int(n)
		}
	}
	return cells, samples
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
