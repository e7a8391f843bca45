"""Levels of any values: even ones give the numbers of a range, and Python and the command agree on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import belsim

L = 16
VALUES = 2.5 + 1.8 * (np.arange(L) / (L - 1)) ** 2
EVEN = 2.5 + 1.8 * np.arange(L) / (L - 1)


@pytest.fixture
def network() -> tuple[np.ndarray, np.ndarray]:
    """Outputs of Johnson, and targets of which some lie beyond the values."""
    rng = np.random.default_rng(46)
    y = rng.choice(VALUES, 600) + rng.normal(0, 0.05, 600)
    seen = belsim.quantize(y + rng.normal(0, 0.1, 600), VALUES, L)
    return 4.0 * belsim.code("johnson", L)[seen] - 2 + rng.normal(0, 1.5, (600, L // 2)), y


def test_even_values(network: tuple[np.ndarray, np.ndarray]) -> None:
    z, y = network
    y = np.clip(y, 2.5, 4.3)
    for dtype in (np.float64, np.float32):
        values = EVEN.astype(dtype)
        ends = (float(values[0]), float(values[-1]))
        inside = np.clip(y, *ends)
        assert (belsim.quantize(inside, values, L) == belsim.quantize(inside, ends, L)).all()
        assert (belsim.dequantize([0, 3.5, 15], values, L) == belsim.dequantize([0, 3.5, 15], ends, L)).all()
        assert (
            belsim.decode(z, "johnson", "gen-ex", levels=L, range=values) == belsim.decode(z, "johnson", "gen-ex", levels=L, range=ends)
        ).all()
        a, b = (belsim.fit("johnson", z, inside, levels=L, range=r, fit_decoder=True) for r in (values, ends))
        assert str(a) == str(b)
        assert (a.decoder.decode(z) == b.decoder.decode(z)).all()


def test_uneven_values(network: tuple[np.ndarray, np.ndarray], tmp_path: Any) -> None:
    z, y = network
    nearest = np.abs(y[:, None] - VALUES).argmin(1)
    assert (belsim.quantize(y, VALUES, L) == nearest).all()
    assert np.allclose(belsim.dequantize(nearest, VALUES, L), VALUES[nearest], rtol=0, atol=0)
    fit = belsim.fit("johnson", z, y, levels=L, range=VALUES, fit_decoder=True)
    assert fit.values == VALUES.tolist()
    assert fit.beyond == ((y < VALUES[0]) | (y > VALUES[-1])).sum() > 0
    for row in fit.decoders.itertuples():
        if row.decoder == "bel-j" or (row.reads == "logits" and row.decoder != "fitted"):  # Python decodes as the command does
            labels = belsim.decode(z, "johnson", str(row.decoder), levels=L, range=VALUES)
            assert np.abs(labels - y).mean() == pytest.approx(row.observed, rel=1e-12)
    p = np.exp(z @ belsim.code("johnson", L).T.astype(float))
    assert np.allclose(belsim.decode(z, "johnson", "gen-ex", levels=L, range=VALUES), p @ VALUES / p.sum(1), rtol=1e-12)
    assert fit.fitted_decoder["error"] < 0.2
    labels = fit.decoder.decode(z)
    assert labels.min() >= VALUES[0]
    assert labels.max() <= VALUES[-1]


def test_levels_of_fit(network: tuple[np.ndarray, np.ndarray]) -> None:
    """``levels`` may have the label of each level. What is refused or advised is written as an argument."""
    z, y = network
    y = np.clip(y, EVEN[0], EVEN[-1])
    of = belsim.fit("johnson", z, y, levels=EVEN)
    assert of.decoders.equals(belsim.fit("johnson", z, y, levels=L, range=EVEN).decoders)
    for levels, range_ in (([1, 2], None), ([3, 2, 1], None), (EVEN, (EVEN[0], EVEN[-1]))):
        with pytest.raises(belsim.Error, match="ascend"):
            belsim.fit("johnson", z, y, levels=levels, range=range_)
    with pytest.raises(belsim.Error, match="outputs come before targets"):
        belsim.fit("johnson", y, z)
    label = np.arange(2000) % 15 + 0.3
    seen = np.clip(np.round(label) + np.random.default_rng(1).integers(-1, 2, 2000), 0, 15).astype(int)
    logits = 4.0 * belsim.code("johnson", 16)[seen] - 2
    verdict = belsim.fit("johnson", logits, label, levels=16, range=(0, 18)).verdict
    assert "Next: fit a decoder, or give range=(" in " ".join(verdict.split())


def test_estimator() -> None:
    sklearn = pytest.importorskip("sklearn.linear_model")
    from belsim.sklearn import BELRegressor

    x = np.linspace(0, 1, 300)[:, None]
    y = 2.5 + 1.8 * x[:, 0] ** 2
    by = sklearn.LogisticRegression(C=1000)
    a, b = (BELRegressor(by, code="unary", levels=L, range=r).fit(x, y).predict(x) for r in (EVEN, (2.5, 4.3)))
    assert (a == b).all()
    model = BELRegressor(by, code="unary", levels=L, range=VALUES, decoder="gen").fit(x, y)
    assert set(model.predict(x)) <= set(VALUES)
    assert np.abs(model.predict(x) - y).mean() < 0.06
    noisy = y + np.random.default_rng(1).normal(0, 0.2, len(y))
    assert (model.calibrate(x, noisy).predict_interval(x)[:, 0] >= VALUES[0]).all()


def test_fit_of_head(network: tuple[np.ndarray, np.ndarray]) -> None:
    pytest.importorskip("torch")
    from belsim.torch import Head

    z, y = network
    told = belsim.fit(Head("bce", L, code="johnson", values=VALUES), z, y)
    said = belsim.fit("johnson", z, y, levels=L, range=VALUES, training="bce")
    assert told.decoders["observed"].tolist() == pytest.approx(said.decoders["observed"].tolist(), rel=1e-9)


def test_head() -> None:
    torch = pytest.importorskip("torch")
    from belsim.torch import Head, Kind

    rng = np.random.default_rng(1)
    y = torch.tensor(rng.uniform(2.4, 4.4, 50))
    inside = y.clamp(2.5, 4.3)
    heads: list[tuple[Kind, str | None]] = [
        ("bce", "johnson"),
        ("ce", "onehot"),
        ("soft", "unary"),
        ("corn", None),
        ("l1", "onehot"),
        ("l2", None),
    ]
    for kind, code in heads:
        even, ends = Head(kind, L, code=code, values=EVEN), Head(kind, L, code=code, range=(2.5, 4.3))
        head = Head(kind, L, code=code, values=VALUES)
        z = torch.tensor(rng.normal(0, 1, (50, head.outputs)), requires_grad=True)
        assert even.loss(z, y) == ends.loss(z, inside)
        assert torch.isfinite(torch.autograd.grad(head.loss(z, y), z)[0]).all()
        if kind == "l2":
            continue
        p = head.probabilities(z)
        v = torch.tensor(VALUES)
        assert torch.allclose(head.decode(z), p @ v, rtol=1e-6)
        at = p.argmax(-1)
        assert torch.allclose(head.decode(z, "map"), v[at], rtol=1e-6)
        assert (even.decode(z, "median") == ends.decode(z, "median")).all()
        assert (head.decode(z, "median").diff() > 0).sum() == (ends.decode(z, "median").diff() > 0).sum()  # in the same order
    head = Head("soft", L, code="onehot", values=VALUES)  # a level is told as a level, wherever it lies
    sharp = torch.eye(L)[5] * 50
    assert head.decode(sharp[None]).item() == pytest.approx(VALUES[5], rel=1e-6)
    assert head._index(head._level(torch.tensor(VALUES), torch.device("cpu"))).round(decimals=9).tolist() == list(range(L))
    state = Head("ce", L, code="onehot", values=VALUES).state_dict()
    Head("ce", L, code="onehot", values=VALUES).load_state_dict(state)
    for other in (
        Head("ce", L, code="onehot", values=np.r_[2.5, VALUES[1:-1] + 0.001, 4.3]),
        Head("ce", L, code="onehot", range=(2.5, 4.3)),
    ):
        with pytest.raises(RuntimeError, match=r"values|places"):
            other.load_state_dict(state)


@pytest.mark.parametrize("bad", [[3, 2, 1], [1, 2, 2], [1, float("nan"), 3], [1, 2, float("inf")], np.ones((2, 2)), "x", None])
def test_refused(bad: Any) -> None:
    from belsim import Error

    with pytest.raises(Error, match="range"):
        belsim.quantize([1.0], bad, 5)
    torch = pytest.importorskip("torch")
    from belsim.torch import Head

    assert torch
    with pytest.raises(Error):
        Head("l1", 5, values=bad if bad is not None else VALUES)
    with pytest.raises(Error):
        Head("l1", 5, values=VALUES[:5], range=(0, 1))


def test_probabilities() -> None:
    """Probabilities of levels are 0 or more and sum to 1; what ``predict`` says of them are their mean, median, mode and quantiles."""
    rng = np.random.default_rng(1)
    own = belsim.code("b1jdj", 16)
    for name in ("unary", "johnson", "onehot", own):
        c = belsim.code(name, 16) if isinstance(name, str) else own
        z = 2 * rng.standard_normal((3, 50, c.shape[1]))
        full = belsim.decode(z, name, levels=16, kind="logits", output_type="full", range=(10, 25))
        p, values = full["probabilities"], full["values"]
        np.testing.assert_allclose(values, np.arange(10, 26), atol=1e-12)
        assert p.shape == (3, 50, 16) and (p >= 0).all()
        np.testing.assert_allclose(p.sum(-1), 1, atol=1e-12)
        if isinstance(name, str) and name == "unary":
            from sklearn.isotonic import isotonic_regression

            above = np.apply_along_axis(lambda v: isotonic_regression(v, increasing=False), -1, 1 / (1 + np.exp(-z)))
            np.testing.assert_allclose(1 - p.cumsum(-1)[..., :-1], above, atol=1e-10)
        else:
            np.testing.assert_allclose(full["mean"], belsim.decode(z, c, "gen-ex", kind="logits", range=(10, 25)), atol=1e-9)
            np.testing.assert_array_equal(full["mode"], belsim.decode(z, c, "gen", kind="logits", range=(10, 25)))
        upto = p.cumsum(-1)
        for q, got in zip((0.5, *belsim._codes.QUANTILES), (full["median"], *full["quantiles"]), strict=True):
            at = (got - 10).round().astype(int)[..., None]
            below = np.take_along_axis(upto, at, -1) - np.take_along_axis(p, at, -1)
            assert (np.take_along_axis(upto, at, -1) >= q - 1e-8).all() and (below <= q + 1e-8).all()
    some = belsim.decode(z[0], own, kind="logits", output_type="quantiles", quantiles=[0.05, 0.95])
    assert len(some) == 2 and (some[0] <= some[1]).all()
    with pytest.raises(belsim.Error, match="no probabilities of levels"):
        belsim.decode(z[0] > 0, own, output_type="mean")
    with pytest.raises(belsim.Error, match="want numbers between 0 and 1"):
        belsim.decode(z[0], own, output_type="quantiles", quantiles=[5], kind="logits")


def test_decoder_predicts() -> None:
    """A fitted decoder's label is the mean, the median or the mode of its probabilities, as its rule says."""
    rng = np.random.default_rng(1)
    level = np.arange(3000) % 16
    z = 4.0 * belsim.code("johnson", 16)[np.clip(level + rng.integers(-1, 2, 3000), 0, 15)] - 2 + rng.standard_normal((3000, 8))
    for labels, span in ((level, None), (level / 15, (0, 1))):
        d = belsim.fit("johnson", z, labels, levels=16, fit_decoder=True, range=span).decoder
        said = {"map": "mode"}.get(d.about["rule"], d.about["rule"])
        np.testing.assert_allclose(d.predict(z, said), d.predict(z), atol=1e-9)
        np.testing.assert_allclose(belsim.decode(z, decoder=d, output_type=said), d.decode(z), atol=1e-9)
        assert d.probabilities(z[:7].reshape(7, 1, 8)).shape == (7, 1, 16)
