"""Trains the networks of chosen.csv, whose learning rates validation chose, and adds their rows.

The networks are those of train.py, but each code and training has its own learning rate: the one of three with the
smallest error (read by the mean) of 15 % of the training samples, which no network is trained with. It is chosen
with seed 0, as a multiple of the task's rate in train.py. Networks of one seed are trained together (../heads/heads.py).

    python chosen.py --codes codes --tasks weather/mlp/64 -o new.csv

The networks of blind.csv are trained in the same way, and nothing may choose constants by them:

    python chosen.py --codes codes --tasks blind --seeds 0,1 -o new.csv
    python -c 'import chosen, train; train.priors("new-priors.csv", chosen.BLIND)'

It prints how the errors of networks go together on the same test samples, for all pairs of codes with two seeds.

One network takes half a second on one core for tables of data, and three to four seconds for images.
"""

import argparse
import csv
import os
import sys

import numpy as np
import torch
import train

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "heads"))
import heads  # noqa: E402

TASKS = [
    "diamonds/mlp/64", "flights/mlp/64", "weather/mlp/64", "bikes/mlp/64", "diamonds/mlp/32", "diamonds/mlp/128",
    "diamonds/mlp/256", "diamonds/wide/64", "digits/conv-long/64", "pose/cnn/64", "horizon/cnn/64", "texture/cnn/64",
]  # fmt: skip
# Tasks that observed.csv lacks.
MORE = {
    "wages/mlp/64": (train.mlp, 12, 3e-3),
    "homers/mlp/64": (train.mlp, 15, 3e-3),
    "houses/mlp/64": (train.mlp, 60, 3e-3),
    "humidity/mlp/64": (train.mlp, 48, 3e-3),
    "gauge/cnn/64": (train.cnn, 30, 3e-3),
    "crowd/cnn/64": (train.cnn, 12, 3e-3),
    "food/mlp/64": (train.mlp, 30, 3e-3),
    "computers/mlp/64": (train.mlp, 100, 3e-3),
    "vietnam/mlp/64": (train.mlp, 30, 3e-3),
    "delay/mlp/64": (train.mlp, 30, 3e-3),
    "weather/mlp-long/64": (train.mlp, 150, 3e-3),
    "diamonds/mlp-long/64": (train.mlp, 60, 3e-3),
    "ripples/cnn/64": (train.cnn, 20, 3e-3),
    "disc/cnn/64": (train.cnn, 20, 3e-3),
}
BLIND = {
    "airfare/mlp/64": (train.mlp, 100, 3e-3),
    "star/mlp/64": (train.mlp, 30, 3e-3),
    "males/mlp/64": (train.mlp, 60, 3e-3),
    "hours/mlp/64": (train.mlp, 20, 3e-3),
    "zoom/conv-long/64": (train.conv, 30, 3e-3),
}
# Multiples of the task's rate. No more than two for images of 20 x 20 and humidity, and few codes, to save time.
RATES = {
    "mlp": (1, 3, 9), "mlp-long": (1, 3, 9), "wide": (1, 3, 9), "bikes": (1 / 3, 1, 3), "humidity": (3, 9),
    "conv-long": (3, 9, 27), "cnn": (3, 9),
}  # fmt: skip
FEW = ["unary", "johnson", "b1jdj", "b2jdj", "hexj", "hadamard", "gray"]
TOGETHER = {"mlp": 26, "mlp-long": 26, "wide": 13, "conv-long": 20, "cnn": 14}


def paired(errors):
    """How the |error|s of two networks on the same samples go together: the correlations for different codes and seeds, of unary, johnson and
    b1jdj, and where one of the codes is another. errors are by seed and code, the |error|s of all test samples."""
    easy, other = [], []
    for (seed, a), x in errors.items():
        for (of, b), y in errors.items():
            if seed < of and a != b:
                few = {a, b} <= {"unary", "johnson", "b1jdj"}
                (easy if few else other).append(np.corrcoef(x, y)[0, 1])
    return [f"{np.mean(r):.2f}, {min(r):.2f} to {max(r):.2f}" for r in (easy, other) if r]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--codes", default="codes", help="folder with NAME-LEVELS.npy")
    p.add_argument("--tasks", default=",".join([*TASKS, *MORE]), help="data/architecture/levels, with commas between, or blind")
    p.add_argument("--seeds", default="0,1,2", help="the first one chooses the rates")
    p.add_argument("-o", default="chosen.csv", help="table of errors; rows are added")
    a = p.parse_args()
    torch.set_num_threads(1)
    train.TASKS |= MORE | BLIND
    heads.STACK |= TOGETHER
    with open(a.o, "a", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        if f.tell() == 0:
            out.writerow(["data", "architecture", "levels", "code", "training", "seed", "rate", *train.COLUMNS, "temperature"])
        for task in BLIND if a.tasks == "blind" else a.tasks.split(","):
            data, architecture, levels = task.split("/")
            heads.LEVELS = int(levels)
            heads.samples.cache_clear()
            if task in MORE:
                names = [*FEW, "b1jdj-nr", "onehot"]
            else:
                names = FEW if architecture == "cnn" else train.CODES
            codes = {c: torch.tensor(np.load(f"{a.codes}/{c}-{levels}.npy")).float() for c in names}
            of = RATES.get(data, RATES[architecture])
            rates = {(training, c, ""): of for c in codes for training in ("bce", "ce")}
            errors = {}  # after BCE, of gen on logits
            for seed in a.seeds.split(","):
                best, y = heads.search(task, [(h, r) for h in rates for r in rates[h]], int(seed), codes)
                for (training, c, _), (_, rate, _, z) in best.items():
                    measured = z, np.rint(y).astype(int), codes[c].numpy()
                    if training == "bce":
                        errors[seed, c] = heads.errors(heads.read((training, c, ""), z, codes[c])["gen"], measured[1])
                    row = [*train.measure(*measured), f"{train.temperature(*measured, training):.3f}"]
                    out.writerow([data, architecture, levels, c, training, seed, f"{rate:.3g}", len(y), *row])
                f.flush()
                rates = {h: (b[1],) for h, b in best.items()}
            print(task, "correlations of |error|s, easy codes and others:", *paired(errors), sep=" | ")


if __name__ == "__main__":
    main()
