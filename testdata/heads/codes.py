"""Trains the networks of codes.csv, as heads.py trains those of heads.csv, on 36 data sets.

Trainings are bce and ce of codes, soft of four codes, and direct regression, of which each chooses its own learning rate with
the first seed. With --through, codes are trained by l1 and l2 of gen-ex on six tasks.

    mkdir codes
    for levels in 32 64 128 256; do
        for code in unary johnson johnson-nonzero b1jdj b1jdj-nr b2jdj b2jdj-nr \\
                    hexj hexj-nr hadamard onehot gray binary; do
            belsim codes $code --levels $levels -o codes/$code-$levels.npy
        done
    done
    python codes.py --codes codes --tasks weather/mlp/64    # adds to codes.csv what it lacks

Kept rows of codes other than unary, johnson and b1jdj have no errors against labels but on the ten later data sets. One
network takes half a second on one core for tables of data, and three to four seconds for images.
"""

import argparse
import itertools
import os

import data as datasets
import heads
import numpy as np
import torch

CODES = [
    "unary", "johnson", "johnson-nonzero", "b1jdj", "b1jdj-nr", "b2jdj", "b2jdj-nr",
    "hexj", "hexj-nr", "hadamard", "onehot", "gray", "binary",
]  # fmt: skip
THROUGH = [
    "diamonds/mlp/64", "flights/mlp/64", "weather/mlp/64", "bikes/mlp/64", "digits/conv-long/64", "pose/cnn/64",
]  # fmt: skip
# Multiples of the task's rate. No more than two for images of 20 x 20 and humidity, and few codes, to save time.
RATES = {
    "mlp": (1, 3, 9), "mlp-long": (1, 3, 9), "wide": (1, 3, 9), "bikes": (1 / 3, 1, 3), "humidity": (3, 9),
    "conv-long": (3, 9, 27), "cnn": (3, 9),
    "cnn20": (3, 9), "cnn40": (3, 9),
}  # fmt: skip
FEW = ["unary", "johnson", "b1jdj", "b2jdj", "hexj", "hadamard", "gray"]
SOFT = ["onehot", "unary", "johnson", "b1jdj"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--codes", default="codes", help="folder with NAME-LEVELS.npy")
    p.add_argument("--tasks", default=",".join(datasets.TASKS), help="data/architecture/levels, ...")
    p.add_argument("--through", action="store_true", help="train codes through gen-ex, by l1 and l2")
    p.add_argument("--seeds", default="0,1", help="the first one chooses the rates")
    p.add_argument("-o", default=os.path.join(heads.HERE, "codes.csv"), help="table of errors; rows are added")
    a = p.parse_args()
    torch.set_num_threads(1)
    done = heads.rows(a.o)
    out, file = heads.append(a.o)
    first, *_ = seeds = a.seeds.split(",")
    for seed, task in itertools.product(seeds, THROUGH if a.through else a.tasks.split(",")):
        data, architecture, levels = task.split("/")
        heads.LEVELS = int(levels)
        heads.samples.cache_clear()
        names = FEW if architecture.startswith("cnn") else CODES
        if a.through:
            todo = [(t, c, "") for t in ("l1", "l2") for c in [*FEW, "onehot"]]
        else:
            todo = [("l1", "", ""), *(("soft", c, "0.75") for c in SOFT), *itertools.product(("bce", "ce"), names, [""])]
        todo = [h for h in todo if heads.key(task, h, seed) not in done]
        if not todo:
            continue
        codes = {c: torch.tensor(np.load(f"{a.codes}/{c}-{levels}.npy")).float() for c in {*names, *SOFT}}
        grid = RATES.get(data, RATES[architecture])
        wanted = [(h, r) for h in todo for r in ([done[heads.key(task, h, first)]] if seed != first else grid)]
        best, y = heads.search(task, wanted, int(seed), codes)
        for h, (_, rate, z) in best.items():
            out.writerow(heads.measured(task, h, seed, rate, z, y, codes.get(h[1])))
            done[heads.key(task, h, seed)] = rate
        file.flush()


if __name__ == "__main__":
    main()
