"""belsim.torch: the head, the losses as they are defined, and decoding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import belsim

torch = pytest.importorskip("torch")


def test_losses() -> None:
    from belsim.torch import bel_loss, expected_level

    c = torch.tensor(belsim.code("johnson", 16), dtype=torch.float32)
    z = torch.randn(20, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    level = torch.arange(20) % 16
    p = 1 / (1 + np.exp(-z.numpy()))
    bits = c.numpy()[level]
    bce = -(bits * np.log(p) + (1 - bits) * np.log(1 - p)).mean()
    correlation = z.numpy() @ c.numpy().T
    softmax = np.exp(correlation) / np.exp(correlation).sum(1, keepdims=True)
    error = softmax @ np.arange(16) - level.numpy()
    ce = -np.log(softmax[np.arange(20), level]).mean()
    want: dict[Any, float] = {"bce": bce, "ce": ce, "l1": np.abs(error).mean(), "l2": np.square(error).mean()}
    for kind, value in want.items():
        assert bel_loss(z, level, c, kind).item() == pytest.approx(value, rel=1e-6), kind
        assert bel_loss(z, level.double() + 0.2, c, kind).item() > 0
    np.testing.assert_allclose(expected_level(z, c), belsim.decode(z, c, "gen-ex"), rtol=1e-9)
    with pytest.raises(belsim.Error, match="want 'bce'"):
        bel_loss(z, level, c, "huber")  # type: ignore[arg-type]


def test_head() -> None:
    """A head learns a line: both ends of the levels are decoded."""
    from belsim.torch import BELHead, bel_loss, decode

    torch.manual_seed(1)
    x = torch.linspace(-1, 1, 800)[:, None]
    level = torch.as_tensor(belsim.quantize(x[:, 0], (-1, 1), 16))
    kinds: list[tuple[Any, str]] = [("bce", "bel-j"), ("ce", "gen-ex"), ("l1", "gen-ex"), ("l2", "gen-ex")]
    for kind, decoder in kinds:
        head = BELHead(32, "johnson", levels=16)
        net = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.ReLU(), head)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
        for _ in range(300):
            optimizer.zero_grad()
            bel_loss(net(x), level, head.matrix, kind).backward()
            optimizer.step()
        z = net(x)
        assert z.shape == (800, 8)
        found = decode(z, head.matrix, decoder)
        assert (found - level).abs().double().mean() < 0.5, kind
        assert found.min() < 1
        assert found.max() > 14
    assert "matrix" in head.state_dict()
    assert [layer.out_features for layer in head.layers] == [10, 8]
    fit = belsim.fit(head.matrix, z, level, samples=10)  # tensors that need gradients
    assert fit.bits == 8
