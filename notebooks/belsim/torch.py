"""Binary-encoded labels in PyTorch: a head, its losses, and decoding. Needs torch.

    head = BELHead(64, "johnson", levels=64)
    net = torch.nn.Sequential(backbone, head)                  # backbone: (N, ...) to (N, 64)
    loss = bel_loss(net(x), level, head.matrix, kind="bce")    # level: (N,), from 0
    decode(net(x), head.matrix)                                # (N,), levels from 0

Levels count from 0. ``belsim.quantize`` makes levels of real labels.
"""

from __future__ import annotations

from typing import Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from belsim import _codes
from belsim._call import Error

Loss = Literal["bce", "ce", "l1", "l2"]


class BELHead(nn.Module):
    """The paper's regressor: a bottleneck of θ units, and M outputs, one for each bit.

    ``features`` is the width of what it reads, of shape (..., features); it returns logits of shape (..., M). ``code`` is an L × M
    matrix of 0 and 1, or a name with its number of ``levels``. The matrix is the buffer ``matrix``, float32.
    """

    matrix: Tensor

    def __init__(self, features: int, code: str | ArrayLike, theta: int = 10, *, levels: int | None = None) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.as_tensor(_codes.matrix(code, levels), dtype=torch.float32))
        self.layers = nn.Sequential(nn.Linear(features, theta), nn.Linear(theta, self.matrix.shape[1]))

    def forward(self, x: Tensor) -> Tensor:
        """The logits, (..., M), of features, (..., features)."""
        out: Tensor = self.layers(x)
        return out


def expected_level(z: Tensor, matrix: Tensor, temperature: float = 1.0) -> Tensor:
    """What ``gen-ex`` makes of logits (Eq. 6), with gradients: (..., M) to levels of shape (...), from 0 to L − 1."""
    n = torch.arange(matrix.shape[0], dtype=z.dtype, device=z.device)
    return torch.softmax(temperature * (z @ matrix.to(z.dtype).T), dim=-1) @ n


def bel_loss(z: Tensor, target: Tensor, code: Tensor, kind: Loss = "bce", *, temperature: float = 1.0) -> Tensor:
    """The mean loss of logits ``z``, (N, M), for targets of shape (N,), in levels from 0 to L − 1.

    - ``bce``: the cross-entropy of each bit by itself; ``gen`` and ``bel-u`` or ``bel-j`` can read such outputs
    - ``ce``: the cross-entropy of the softmax over the levels of the correlations ``z @ code.T``
    - ``l1``, ``l2``: the mean absolute or squared error of the expected level (``gen-ex``)

    ``code`` is the L × M matrix. Targets may lie between two levels for ``l1`` and ``l2``; ``bce`` and ``ce`` take the nearest level.
    """
    matrix = code.to(device=z.device, dtype=z.dtype)
    if kind in ("l1", "l2"):
        error = expected_level(z, matrix, temperature) - target.to(z.dtype)
        return error.abs().mean() if kind == "l1" else error.square().mean()
    level = target.round().long() if target.is_floating_point() else target.long()
    if kind == "bce":
        return functional.binary_cross_entropy_with_logits(z, matrix[level])
    if kind == "ce":
        return functional.cross_entropy(temperature * (z @ matrix.T), level)
    raise Error(f"loss {kind!r}: want 'bce', 'ce', 'l1' or 'l2'")


def decode(
    z: Tensor, code: Tensor | str | ArrayLike, decoder: str = "gen-ex", *, levels: int | None = None, temperature: float = 1.0
) -> Tensor:
    """The levels, from 0, of logits of shape (..., M): as ``belsim.decode``, on the device of ``z``, without gradients."""
    found = _codes.decode(z, code, decoder, levels=levels, kind="logits", temperature=temperature)
    return torch.as_tensor(found, device=z.device)
