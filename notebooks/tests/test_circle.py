"""Levels on a circle, as angles have them: the package gives what the command gives."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import belsim
from belsim._call import Inputs, flags, run

torch = pytest.importorskip("torch")
from belsim.torch import Decoder, Head, Rule  # noqa: E402

ROUND = (0.0, 360.0)


def command(tmp: Path, z: NDArray[Any], **named: Any) -> NDArray[np.float64]:
    """What the command decodes."""
    out = tmp / "labels.npy"
    with Inputs() as inputs:
        told = {**named, "range": None if named.get("range") is None else "0.0:360.0"}
        run(["decode", *flags(outputs="logits:" + inputs.array(z, "outputs"), output=str(out), circular=True, **told)], inputs)
        found: NDArray[np.float64] = np.load(out)
    return found


def away(a: Any, b: Any, around: float = 360.0) -> Any:
    """The shorter way round."""
    return np.abs((np.asarray(a) - np.asarray(b) + around / 2) % around - around / 2)


@pytest.mark.parametrize("span", [None, ROUND])
@pytest.mark.parametrize(
    ("decoder", "code"),
    [("bel-u", "unary"), ("bel-j", "johnson"), ("auto", "johnson"), ("gen", "gray"), ("gen-ex", "johnson"), ("gen-ex", "onehot")],
)
def test_decode(tmp_path: Path, decoder: str, code: str, span: tuple[float, float] | None) -> None:
    """Levels, and labels of a range, are those of the command, and lie on the circle."""
    m = belsim.code(code, 16).shape[1]
    z = 3 * np.random.default_rng(1).standard_normal((400, m))
    got = belsim.decode(z, code, decoder, levels=16, kind="logits", range=span, circular=True)
    want = command(tmp_path, z, decoder=decoder, code=code, levels=16, range=span) - (span is None)
    around = 16.0 if span is None else 360.0
    assert away(got, want, around).max() < 1e-9 * around
    assert (got >= 0).all()
    assert (got < around).all()


def test_levels() -> None:
    """Labels outside go round, and L levels are 360/L apart."""
    assert belsim.quantize([0, 4, 358, 365, -10], ROUND, 90, circular=True).tolist() == [0, 1, 0, 1, 88]
    assert belsim.dequantize([0, 89, 90, 90.5], ROUND, 90, circular=True).tolist() == [0, 356, 0, 2]
    with pytest.raises(belsim.Error, match="levels on a circle are even"):
        belsim.quantize([1.0], [0.0, 1.0, 5.0], 3, circular=True)
    assert belsim.codes(8, circular=True).set_index("code").loc["johnson", "transitions_per_bit"] == 2


@pytest.mark.parametrize("sigma", [0.05, 0.75, 5.0, 11.0, 150.0, 1e9])
def test_target(sigma: float) -> None:
    """The Gaussian of soft targets is the sum over its images."""
    levels = 12 if sigma < 100 else 120
    head = Head("soft", levels, code="onehot", sigma=sigma, circular=True)
    y = torch.tensor([0.0, 0.3, 11.9, 6.5, -0.4, 12.3], dtype=torch.float64)
    got = head.target(y).numpy()
    far = min(int(10 * sigma), 20 * levels) // levels + 2
    for row, level in zip(got, y.tolist(), strict=True):
        if sigma > 1.5 * levels:
            want = np.full(levels, 1 / levels)
        else:
            cdf = [0.5 * math.erfc(-(n - 0.5 - level) / sigma / math.sqrt(2)) for n in range(-far * levels, (far + 1) * levels + 1)]
            want = np.diff(cdf).reshape(-1, levels).sum(0)
        np.testing.assert_allclose(row, want / want.sum(), rtol=0, atol=1e-6 if sigma > 100 else 1e-12)


@pytest.mark.parametrize("head", [
    Head("bce", 16, code="johnson", range=ROUND, circular=True), Head("ce", 16, code="onehot", range=ROUND, circular=True),
    Head("soft", 16, code="johnson", range=ROUND, circular=True), Head("l1", 16, code="johnson", range=ROUND, circular=True),
    Head("huber", 16, range=ROUND, circular=True), Head("l2", 16, range=ROUND, circular=True),
    Head("corn", 16, range=ROUND, circular=True),
])  # fmt: skip
def test_head(head: Head, tmp_path: Path) -> None:
    """Losses do not change when labels go round; every rule gives a label on the circle, and those of the command."""
    z = torch.tensor(np.random.default_rng(2).standard_normal((300, head.outputs)), requires_grad=True)
    y = torch.linspace(0, 359.9, 300, dtype=torch.float64)
    loss = head.loss(z, y)
    assert loss.item() == pytest.approx(head.loss(z, y + 360).item(), rel=1e-9)
    assert loss.item() == pytest.approx(head.loss(z, y - 720).item(), rel=1e-9)
    loss.backward()
    assert z.grad is not None
    assert z.grad.isfinite().all()
    with pytest.raises(belsim.Error, match="no finite"):
        head.loss(z, torch.full_like(y, math.inf))
    rules: tuple[Rule, ...] = ("mean", "map", "median")
    for rule in rules:
        label = head.decode(z, rule)
        assert ((label >= 0) & (label < 360)).all()
    if head.coded:
        code = {"ce": "onehot"}.get(head.kind, "johnson")
        for rule, decoder in zip(rules, ("gen-ex", "gen"), strict=False):
            want = command(tmp_path, z.detach().numpy(), decoder=decoder, code=code, levels=16, range=ROUND)
            assert away(head.decode(z, rule).detach(), want).max() < 1e-7
        p = head.probabilities(z).detach().numpy()
        off = np.array([(p * away(np.arange(16), m, 16)).sum(1) for m in range(16)])
        np.testing.assert_allclose(head.decode(z, "median").detach(), 22.5 * off.argmin(0), atol=1e-9)


def test_seam() -> None:
    """A label that is off by 4 degrees over the seam is off by 4 degrees, with its gradient to the nearer side."""
    head = Head("l1", 90, range=ROUND, circular=True)  # −1 and 1 stand for the seam
    z = torch.tensor([[2 / 180 - 1]], dtype=torch.float64, requires_grad=True)
    loss = head.loss(z, torch.tensor([358.0]))
    assert 4 * loss.item() == pytest.approx(4)
    loss.backward()
    assert z.grad is not None
    assert z.grad.item() > 0
    assert head.decode(torch.tensor([[1.0], [-1.0], [1.01]])).tolist() == pytest.approx([0, 0, 1.8], abs=1e-4)
    line = Head("l1", 90, range=ROUND)
    with pytest.raises(RuntimeError, match="on a circle"):
        line.load_state_dict(head.state_dict())
    with pytest.raises(belsim.Error, match="levels on a circle are even"):
        Head("ce", 3, code="onehot", values=[0.0, 1.0, 5.0], circular=True)


def network(seed: int = 5) -> tuple[NDArray[Any], NDArray[Any]]:
    """Angles, and what a network of Johnson's code says of them."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(0, 360, 1200)
    level = np.round((y + 20 * rng.standard_normal(1200)) / 11.25).astype(int) % 32
    return (4.0 * belsim.code("johnson", 32)[level] - 2) + rng.standard_normal((1200, 16)), y


@pytest.mark.parametrize("hard", [False, True])
def test_fitted(hard: bool) -> None:
    """fit knows the circle by itself or by the head; its decoder is the same in PyTorch, with intervals that pass the seam."""
    z, y = network()
    z = (z > 0).astype(np.int8) if hard else z
    fit = belsim.fit("johnson", z, y + 360, levels=32, range=ROUND, circular=True, fit_decoder=True)
    told = belsim.fit(Head("bce", 32, code="johnson", range=ROUND, circular=True), z, y)
    assert fit.circular
    assert told.decoders["observed"].round(9).tolist() == fit.decoders.query("decoder != 'fitted'")["observed"].round(9).tolist()
    own = belsim.decode(z, "johnson", "gen-ex", levels=32, range=ROUND, circular=True, kind="bits" if hard else "logits")
    assert fit.decoders.set_index("decoder")["observed"]["gen-ex"] == pytest.approx(away(own, y).mean(), rel=1e-9)
    module, label = Decoder(fit.decoder), fit.decoder.decode(z)
    outputs = torch.tensor(2.0 * z - 1) if hard else torch.tensor(z)
    assert away(module(outputs), label).max() < 1e-7
    lower, upper = fit.decoder.predict_interval(z).T
    np.testing.assert_allclose(module.predict_interval(outputs).numpy(), np.stack((lower, upper), 1), rtol=1e-7, atol=1e-6)
    assert ((lower <= label) & (label <= upper)).all()
    assert (lower < 0).any()
    near = label + (y - label + 180) % 360 - 180
    assert 0.85 < ((lower <= near) & (near <= upper)).mean() < 0.95


def test_commands() -> None:
    """The commands of the simulator know the circle."""
    of: dict[str, Any] = {"levels": 16, "r": 0.5, "sigma": 1.5, "samples": 500}
    line, circle = (belsim.compare(["johnson"], decoder="gen", circular=c, **of) for c in (False, True))
    verified = belsim.verify("johnson", decoder="gen", circular=True, **of)
    assert verified.passed
    assert circle["exact"].item() == pytest.approx(verified.labels["exact"].mean(), rel=1e-12)
    assert circle["exact"].item() != line["exact"].item()
    assert belsim.heatmap("johnson", "unary", levels=16, circular=True, r=[0.5], sigma=[1.5]).increase["exact"].shape == (1, 1)
    assert belsim.optimize(levels=8, bits=4, circular=True, r=0.5, sigma=1.5, steps=200).code.shape == (8, 4)


def test_bound() -> None:
    """The bound by the loss is of the shorter way: labels just before the seam are of level 0."""
    head = Head("bce", 16, code="johnson", range=ROUND, circular=True)
    words = torch.tensor(belsim.code("johnson", 16)) * 2.0 - 1
    y = torch.tensor([0.0, 359.9])
    assert head.bound(20 * words[[0, 0]], y) < 1e-6  # both answers are right
    rng = np.random.default_rng(2)
    level = torch.tensor(rng.integers(0, 16, 500))
    for size in (0.1, 1, 5):
        z = torch.tensor(rng.normal(0, size, (500, head.outputs))) + size * words[level]
        off = head.decode(z, "map") / 22.5 - level
        apart = torch.minimum(off.abs(), 16 - off.abs()).mean()
        assert apart <= head.bound(z, 22.5 * level)
