"""Apply a decoder of `belsim fit --fit-decoder -o decoder.npz` without belsim.

    python apply.py decoder.npz outputs.npy labels.npy

writes the labels of the outputs (logits, or 0 and 1 or -1 and 1 where the decoder reads bits). With --check,
the labels are compared with those that labels.npy has. In PyTorch, belsim.torch.Decoder does it.
"""

import sys

import numpy as np


# NumPy
def decode(path, z):
    d = np.load(path)
    if d["reads"][0] == "bits":
        z = np.where(z > 0, 1.0, -1.0)
    s = z @ d["weights"].T + d["offsets"]
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    level = {"map": s.argmax(1), "median": (p.cumsum(1) >= 0.5 - 1e-9).argmax(1)}
    return p @ d["values"] if d["rule"][0] == "mean" else d["values"][level[d["rule"][0]]]


# end
if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    z = np.load(names[1]).astype(float)
    labels = decode(names[0], z)
    if "--check" in sys.argv:
        stored = np.load(names[2])
        assert stored.shape == labels.shape and abs(stored - labels).max() < 1e-9, abs(stored - labels).max()
        print(len(labels), "labels agree")
    else:
        np.save(names[2], labels)
