"""Trains the network whose test outputs lie in this folder.

A BEL regressor of diamond prices: features, two hidden layers, a bottleneck of
theta units, one logit for each bit of the code, binary cross-entropy. The data are
the 53,940 diamonds that the package plotnine ships. Half a minute on two cores.

    pip install torch numpy pandas plotnine
    belsim codes johnson --levels 64 -o johnson.npy
    python train.py johnson.npy
"""

import sys

import numpy as np
import torch
from plotnine.data import diamonds

RANGE = (2.5, 4.3)  # of log10(price in dollars)
THETA, SAMPLES, EPOCHS, BATCH = 10, 6000, 30, 256

torch.manual_seed(1)
rng = np.random.default_rng(1)
code = torch.tensor(np.load(sys.argv[1]), dtype=torch.float32)
levels, bits = code.shape

y = np.log10(diamonds["price"].to_numpy(dtype=np.float64))
numbers = diamonds[["carat", "depth", "table", "x", "y", "z"]].to_numpy(dtype=np.float64)
classes = [np.eye(len(c.cat.categories))[c.cat.codes] for c in (diamonds["cut"], diamonds["color"], diamonds["clarity"])]

order = rng.permutation(len(y))
train, test = order[: int(0.8 * len(y))], order[int(0.8 * len(y)) :]
mean, std = numbers[train].mean(0), numbers[train].std(0)
x = torch.tensor(np.hstack([(numbers - mean) / std, *classes]), dtype=torch.float32)

lo, hi = RANGE
level = torch.tensor(np.rint((y - lo) / (hi - lo) * (levels - 1)), dtype=torch.int64)
target = code[level]

model = torch.nn.Sequential(
    torch.nn.Linear(x.shape[1], 64),
    torch.nn.ReLU(),
    torch.nn.Linear(64, 64),
    torch.nn.ReLU(),
    torch.nn.Linear(64, THETA),
    torch.nn.Linear(THETA, bits),
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
for epoch in range(EPOCHS):
    shuffled = rng.permutation(train)
    for batch in np.array_split(shuffled, len(shuffled) // BATCH):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[batch]), target[batch])
        loss.backward()
        optimizer.step()
    schedule.step()

with torch.no_grad():
    kept = test[:SAMPLES]
    z = model(x[kept]).numpy()
    wrong = (z > 0) != (target[kept].numpy() > 0.5)
    print(f"{len(kept)} test samples, {wrong.mean():.4f} of the bits wrong, logits {z.min():.1f} to {z.max():.1f}")
    np.save("logits.npy", z.astype(np.float16))
    np.save("targets.npy", y[kept].astype(np.float32))
