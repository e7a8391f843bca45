r"""Trains the networks of chosen.csv, whose learning rates validation chose, and adds their rows.

The networks are those of train.py, but each code and training has its own learning rate: the one of three with the
smallest error (read by the mean) of 15 % of the training samples, which no network is trained with. It is chosen
with seed 0, as a multiple of the task's rate in train.py. Networks of one seed are trained together (../heads/heads.py).
Trainings are bce and ce of all codes, soft (targets are a Gaussian of 0.75 levels around the label) of four, and direct,
which is regression without a code, written as l1 of the code "direct". genex.csv has l1 and l2 of codes: the mean
|error| or squared error of gen-ex.

    python chosen.py --codes codes --tasks weather/mlp/64 -o new.csv
    python chosen.py --codes codes --only unary,johnson,b1jdj --seeds 0,1 -o more.csv  # adds to more.csv what it lacks
    python chosen.py --codes codes --tasks genex --only unary,johnson,b1jdj,b2jdj,hexj,hadamard,gray,onehot \
        --trainings l1,l2 --stops "" --seeds 0,1 -o genex.csv

The networks of blind.csv are trained in the same way, and nothing may choose constants by them:

    python chosen.py --codes codes --tasks blind --seeds 0,1 -o blind.csv
    python -c 'import chosen, train; train.priors("new-priors.csv", chosen.BLIND)'

Rows that the output has already are not trained again. chosen.csv has no more columns than "temperature". After it come "epochs", the share of the training that was done, and the errors against the real label, with answers
clipped to the range ("..._label"; for direct the prediction itself in "gen_bits_label"). A network with a share below 1 is
the one of the row with 1, stopped in the middle of the learning rate's fall to 0, as a checkpoint is.

It prints how the errors of networks go together on the same test samples, for all pairs of codes with two seeds.

One network takes half a second on one core for tables of data, and three to four seconds for images.
"""

import argparse
import csv
import functools
import itertools
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
    "airfare/mlp/64": (train.mlp, 100, 3e-3),
    "star/mlp/64": (train.mlp, 30, 3e-3),
    "males/mlp/64": (train.mlp, 60, 3e-3),
    "hours/mlp/64": (train.mlp, 20, 3e-3),
    "zoom/conv-long/64": (train.conv, 30, 3e-3),
}
# Of these, all 13 codes.
ALL_CODES = ("airfare", "star", "males", "hours", "zoom")
BLIND = {
    "storms/mlp/64": (train.mlp, 30, 3e-3),
    "hotel/mlp/64": (train.mlp, 40, 3e-3),
    "delivery/mlp/64": (train.mlp, 60, 3e-3),
    "race/mlp/64": (train.mlp, 30, 3e-3),
    "visits/mlp/64": (train.mlp, 20, 3e-3),
    "maths/mlp/64": (train.mlp, 40, 3e-3),
    "noise/cnn/64": (train.cnn, 15, 3e-3),
    "jpeg/cnn/64": (train.cnn, 15, 3e-3),
    "inset/cnn20/64": (functools.partial(train.cnn, bottleneck=20), 15, 3e-3),
    "tilt/cnn/64": (train.cnn, 15, 3e-3),
}
GENEX = [
    "diamonds/mlp/64", "flights/mlp/64", "weather/mlp/64", "bikes/mlp/64", "digits/conv-long/64", "pose/cnn/64",
]  # fmt: skip
# Multiples of the task's rate. No more than two for images of 20 x 20 and humidity, and few codes, to save time.
RATES = {
    "mlp": (1, 3, 9), "mlp-long": (1, 3, 9), "wide": (1, 3, 9), "bikes": (1 / 3, 1, 3), "humidity": (3, 9),
    "conv-long": (3, 9, 27), "cnn": (3, 9),
    "cnn20": (3, 9), "cnn40": (3, 9),
}  # fmt: skip
FEW = ["unary", "johnson", "b1jdj", "b2jdj", "hexj", "hadamard", "gray"]
TOGETHER = {"mlp": 26, "mlp-long": 26, "wide": 13, "conv-long": 20, "cnn": 14, "cnn20": 14, "cnn40": 11}
SOFT = ["onehot", "unary", "johnson", "b1jdj"]
# The networks whose checkpoints are measured, too.
STOPPED = [*itertools.product(["unary", "johnson", "b1jdj"], ["bce", "ce"]), ("onehot", "soft"), ("direct", "direct")]
KEY = ["data", "architecture", "levels", "code", "training", "seed"]
COLUMNS = ["rate", *train.COLUMNS, "temperature", "epochs", *(c + "_label" for c in train.COLUMNS[1:7])]


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


def measured(code, training, z, y):
    """What is written of the outputs for samples with these labels, without the samples, up to and after the share of epochs."""
    level = np.rint(y).astype(int)
    if training == "direct":  # any other decoder of the bits of the nearest level says the same
        row = train.measure(heads.bits(z), level, code)
        return [*row[:2], *[""] * 4, row[6], ""], [*train.mean_error(np.clip(z, 0, heads.LEVELS - 1), y), *[""] * 4]
    row = [*train.measure(z, level, code), f"{train.temperature(z, level, code, training):.3f}"]
    return row, train.against(train.decoded(z, code), y)


def key(task, code, training, seed):
    """What names a network in the table."""
    return (*task.split("/"), code, "l1" if training == "direct" else training, seed)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--codes", default="codes", help="folder with NAME-LEVELS.npy")
    p.add_argument("--tasks", default=",".join([*TASKS, *MORE]), help="data/architecture/levels, ..., or blind or genex")
    p.add_argument("--only", default="", help="codes of bce and ce, if not the task's own")
    p.add_argument("--trainings", default="bce,ce,soft,direct")
    p.add_argument("--stops", default="0.125,0.25,0.5", help="shares of the epochs after which networks are measured, too")
    p.add_argument("--seeds", default="0,1,2", help="the first one chooses the rates")
    p.add_argument("-o", default="more.csv", help="table of errors; rows are added")
    a = p.parse_args()
    torch.set_num_threads(1)
    train.TASKS |= MORE | BLIND
    heads.STACK |= TOGETHER
    stops = [float(s) for s in a.stops.split(",") if s]
    done, errors = {}, {}  # rates; |error|s after BCE, of gen on logits, by task
    if os.path.exists(a.o):
        with open(a.o, newline="") as f:
            done = {tuple(r[k] for k in KEY): float(r["rate"]) for r in csv.DictReader(f)}
    first, *_ = seeds = a.seeds.split(",")
    tasks = {"blind": BLIND, "genex": GENEX}.get(a.tasks) or a.tasks.split(",")
    with open(a.o, "a", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        if not done:
            out.writerow(KEY + COLUMNS)
        for seed, task in itertools.product(seeds, tasks):
            data, architecture, levels = task.split("/")
            heads.LEVELS = int(levels)
            heads.samples.cache_clear()
            if a.only:
                names = a.only.split(",")
            elif task in MORE and data not in ALL_CODES:
                names = [*FEW, "b1jdj-nr", "onehot"]
            else:
                names = FEW if architecture == "cnn" and task not in BLIND else train.CODES
            codes = {c: torch.tensor(np.load(f"{a.codes}/{c}-{levels}.npy")).float() for c in {*names, *SOFT}}
            of = {"bce": names, "ce": names, "soft": SOFT, "l1": names, "l2": names, "direct": ["direct"]}
            todo = [(c, t) for t in a.trainings.split(",") for c in of[t] if key(task, c, t, seed) not in done]
            if not todo:
                continue
            grid = RATES.get(data, RATES[architecture])
            wanted = []
            for c, t in todo:
                head = ("l1", "", "") if c == "direct" else (t, c, "0.75" if t == "soft" else "")
                wanted += [(head, r) for r in ([done[key(task, c, t, first)]] if seed != first else grid)]
            best, y = heads.search(task, wanted, int(seed), codes, stops)
            for (c, t), (_, rate, _, *zs) in zip(todo, best.values()):
                for share, z in zip([1, *stops], zs):
                    if share < 1 and (c, t) not in STOPPED:
                        continue
                    before, after = measured(codes["unary" if c == "direct" else c].numpy(), t, z, y)
                    out.writerow([*key(task, c, t, seed), f"{rate:.3g}", len(y), *before, share, *after])
                done[key(task, c, t, seed)] = rate
                if t == "bce":
                    read = heads.read((t, c, ""), zs[0].reshape(y.size, -1), codes[c])["gen"]
                    errors.setdefault(task, {})[seed, c] = heads.errors(read, np.rint(y).ravel())
            f.flush()
    for task, e in errors.items():
        print(task, "correlations of |error|s, easy codes and others:", *paired(e), sep=" | ")


if __name__ == "__main__":
    main()
