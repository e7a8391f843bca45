"""Calls of the command: results, levels from 0, errors, arrays, interruptions."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from numpy.typing import NDArray

import belsim
from belsim import _call

Network = tuple[NDArray[np.float32], NDArray[np.float64]]


@pytest.mark.parametrize("name", ["compare", "heatmap", "verify", "fit", "optimize"])
def test_flags(name: str) -> None:
    """Every flag of a command is an argument of its function, but for files and the look of what is printed."""
    others = {"output", "format", "quiet", "style"} | ({"bits"} if name == "fit" else {"model"} if name == "optimize" else set())
    text = subprocess.run([_call.executable(), name, "--help"], check=True, capture_output=True, text=True).stdout
    flags = {flag.replace("-", "_") for flag in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.MULTILINE)} - others
    if name != "fit":
        flags = {"reads" if flag == "outputs" else flag for flag in flags}
    missing = flags - set(inspect.signature(getattr(belsim, name)).parameters)
    assert not missing, f"belsim.{name} lacks these flags of the command: add them to notebooks/belsim/_commands.py"


def test_compare() -> None:
    c = belsim.code("b1jdj", 16)
    frame = belsim.compare(["unary", c, "johnson"], levels=16, r=0.6, sigma=1.5, samples=2000)
    assert list(frame.columns[:4]) == ["levels", "code", "bits", "transitions"]
    assert set(frame["code"]) == {"unary", "codes[1]", "johnson"}
    assert (frame["any_law_lo"] < frame["any_law_hi"]).all()
    named = belsim.compare(["b1jdj"], levels=16, r=0.6, sigma=1.5, samples=2000)
    assert frame["mean"][frame["code"] == "codes[1]"].tolist() == named["mean"].tolist()
    assert frame["mean"].is_monotonic_increasing
    assert frame.attrs["seed"] == 1
    assert pd.isna(belsim.compare(["hadamard"], levels=64, samples=100)["exact"]).all()


@pytest.mark.parametrize("worst", [0, 7])
def test_levels_from_zero(worst: int) -> None:
    """At both ends: errors at one level alone, at its last bit."""
    c = belsim.code("gray", 8)
    e = np.zeros(c.shape)
    e[worst, -1] = 0.5
    frame = belsim.compare([c], errors=e, samples=1000)
    assert frame.loc[0, "worst_level"] == worst
    v = belsim.verify(c, errors=e, samples=1000)
    assert v.passed
    assert list(v.labels["level"]) == list(range(8))
    assert v.labels["exact"].argmax() == worst
    prior = np.zeros(8)
    prior[worst] = 3
    assert belsim.compare([c], errors=e, prior=prior, samples=1000).loc[0, "exact"] == pytest.approx(0.5)


def test_fit(network: Network) -> None:
    outputs, targets = network
    fit = belsim.fit(code="johnson", outputs=outputs, targets=targets, range=(2.5, 4.3), levels=64)
    level = belsim.quantize(targets, (2.5, 4.3), 64)
    for row in fit.decoders.to_dict("records"):
        answers = belsim.decode(outputs, "johnson", row["decoder"], levels=64, reads=row["reads"])
        wrong = belsim.dequantize(answers, (2.5, 4.3), 64) - targets
        assert row["observed"] == pytest.approx(np.abs(wrong).mean(), rel=1e-6), row["decoder"]
    assert str(fit).startswith("The network's best decoder is gen-ex")
    assert "\n\n" not in str(fit)
    q = fit.error_quantiles
    answers = belsim.decode(outputs, "johnson", q["decoder"], levels=64, reads=q["reads"])
    wrong = np.abs(belsim.dequantize(answers, (2.5, 4.3), 64) - targets)
    for name, share in {"median": 0.5, "p90": 0.9, "p99": 0.99}.items():
        assert q[name] == pytest.approx(np.quantile(wrong, share, method="inverted_cdf"), rel=1 / 32)
    assert (q["rows"][0]["level"], q["rows"][-1]["last_level"]) == (0, 63)
    lo, hi = 2.5, 4.3
    alone = np.abs(belsim.dequantize(level, (lo, hi), 64) - targets).mean()
    assert fit.quantization == pytest.approx(alone, rel=1e-9)
    beside = belsim.fit("johnson", outputs, targets, range=(lo, hi), levels=64, baseline=0.0367)
    assert "Direct regression is wrong by 0.0367: this network is better: 10 % less error" in str(beside)
    direct = targets + 0.0305 * np.where(np.arange(len(targets)) % 2, 1, -1)
    paired = belsim.fit("johnson", outputs, targets, range=(lo, hi), levels=64, baseline=direct)
    assert "this network is worse: 8" in str(paired)
    assert paired.direct_regression["error"] == pytest.approx(0.0305, rel=1e-3)
    assert paired.direct_regression["difference"] == pytest.approx(0.03296 - 0.0305, abs=1e-5)
    levels = belsim.fit("johnson", outputs, level, levels=64, baseline=level + 1.5)
    assert levels.direct_regression["error"] == pytest.approx(1.5)  # as they are, beyond the last level
    with pytest.raises(belsim.Error, match=r"baseline: .*NaN is not a finite number"):
        belsim.fit("johnson", outputs, level, levels=64, baseline=np.where(level == 5, np.nan, level))
    assert "mixture model" in fit.text
    assert (fit.levels, fit.kind) == (64, "logits")
    assert fit.samples == 6000
    with pytest.raises(AttributeError):
        _ = fit.nothing


def test_fit_levels(network: Network) -> None:
    """Levels from 0 as targets; a code as a matrix."""
    outputs, targets = network
    level = belsim.quantize(targets, (2.5, 4.3), 64)
    c = belsim.code("johnson", 64)
    assert belsim.fit(c, outputs, level).decoders["observed"].min() < 1.2
    with pytest.raises(belsim.Error, match=r"targets\[1\] = -1: want levels from 0"):
        belsim.fit(c, outputs[:2], [0, -1])
    with pytest.raises(belsim.Error, match=r"targets\[0\] = 2.5: want levels from 0, or range"):
        belsim.fit(c, outputs[:2], [2.5, 1])
    with pytest.raises(belsim.Error, match=r"range = 4.3: want \(a, b\)"):
        belsim.fit(c, outputs, targets, range=4.3)
    with pytest.raises(belsim.Error, match=r"want \(..., 128\), the bits of johnson with 256 levels"):
        belsim.decode(outputs, "johnson")
    with pytest.raises(belsim.Error, match="outputs of 4 dimensions"):
        belsim.fit(c, outputs[None, None], targets)
    with pytest.raises(belsim.Error, match=r"^outputs: 31 columns, but code of 64 levels has 32 bits"):
        belsim.fit(c, outputs[:, 1:], level)


def test_fitted_decoder(network: Network, tmp_path: Path) -> None:
    """A fitted decoder is better than none on samples that it has not seen, and gives the same labels from its file."""
    outputs, targets = network
    y = targets.ravel()
    fit = belsim.fit("johnson", outputs[:3000], y[:3000], range=(2.5, 4.3), levels=64, fit_decoder=True)
    labels = belsim.decode(outputs[3000:], decoder=fit.decoder)
    gen_ex = belsim.dequantize(belsim.decode(outputs[3000:], "johnson", "gen-ex", levels=64), (2.5, 4.3), 64)
    # It is chosen where it is better by more than a standard error: here it is gen-ex.
    assert np.abs(labels - y[3000:]).mean() == pytest.approx(np.abs(gen_ex - y[3000:]).mean(), rel=0.02)
    read = belsim.Decoder.load(fit.decoder.save(tmp_path / "decoder.npz"))
    np.testing.assert_array_equal(read.decode(outputs[3000:].reshape(3, 1000, -1)).ravel(), labels)
    level = belsim.quantize(y, (2.5, 4.3), 64)
    of_levels = belsim.fit("johnson", outputs, level, levels=64).decoder
    assert of_levels.about["unit"] == "levels"
    np.testing.assert_array_equal(of_levels(outputs[:9]), of_levels.decode(outputs[:9]))
    assert np.abs(of_levels.decode(outputs) - level).mean() < 1.2
    with pytest.raises(belsim.Error, match=r"outputs of shape \(3,\): want \(..., 32\), the bits of johnson"):
        read.decode([1.0, 2, 3])
    with pytest.raises(belsim.Error, match="a fitted decoder knows its own"):
        belsim.decode(outputs, "johnson", read)
    with pytest.raises(belsim.Error, match="no fitted decoder"):
        belsim.Decoder.load(ROOT / "README.md")


def test_several(network: Network) -> None:
    """Every output of several is judged as if it were alone."""
    outputs, targets = network
    c = belsim.code("johnson", 64)
    both = belsim.fit(
        ["johnson", "johnson"],
        np.stack([outputs, outputs], 1),
        np.stack([targets, 10 * targets], 1),
        range=[(2.5, 4.3), (25, 43)],
        levels=64,
    )
    assert str(both).startswith("The network has 2 outputs.")
    assert [r["output"] for r in both.rows] == [0, 1]
    assert both.each[1].range == [25, 43]
    beside = belsim.fit(
        "johnson", np.stack([outputs, outputs], 1), np.stack([targets, targets], 1), range=(2.5, 4.3), levels=64,
        baseline=np.stack([targets + 0.01, targets + 0.03], 1),
    )  # fmt: skip
    assert [f.direct_regression["error"] for f in beside.each] == pytest.approx([0.01, 0.03], rel=1e-3)
    alone = belsim.fit(c, outputs, targets, range=(2.5, 4.3)).decoders
    pd.testing.assert_frame_equal(both.each[0].decoders.drop(columns="code"), alone.drop(columns="code"))
    assert both.each[1].decoder.about["unit"] == "labels"
    with pytest.raises(belsim.Error, match=r"its own decoder: take fit\.each\[k\]\.decoder, k from 0"):
        _ = both.decoder
    with pytest.raises(belsim.Error, match=r"its own decoders: take fit\.each\[k\]\.decoders, k from 0"):
        _ = both.decoders
    assert repr(both).startswith("<Fit of 2 outputs, johnson with 64 levels, 6000 samples>")
    with pytest.raises(belsim.Error, match=r"leave it out, and take fit\.each\[k\]\.decoder"):
        belsim.fit(
            "johnson", np.stack([outputs, outputs], 1), np.stack([targets, targets], 1), range=(2.5, 4.3), levels=64, fit_decoder=True
        )
    with pytest.raises(belsim.Error, match=r"targets of shape \(6000,\): want \(N, 2\)"):
        belsim.fit("johnson", outputs[:, None], targets, range=[(0, 1), (0, 1)])


def test_heatmap() -> None:
    m = belsim.heatmap("unary", "johnson", levels=16, r=(0.1, 0.5, 3), sigma=(1, 4, 2, "log"))
    assert m.methods == ["bound", "exact"] and list(m.increase) == m.methods  # as the command's default
    of = ("bound_a", "bound_b", "bound_increase_percent", "exact_a", "exact_b", "exact_increase_percent")
    assert tuple(m.cells.columns) == ("r", "sigma", *of)
    for method, increase in m.increase.items():
        assert increase.shape == (2, 3)
        np.testing.assert_allclose(increase.ravel(), 100 * (m.cells[f"{method}_a"] / m.cells[f"{method}_b"] - 1))
    assert m.cells["sigma"].tolist() == [1, 1, 1, 4, 4, 4]
    assert "16 levels" in repr(m)
    several = belsim.heatmap("unary", "gray", levels=8, r=(0.1, 0.2, 2), sigma=(1, 2, 2), method=["mc", "exact"], samples=50)
    assert several.methods == ["mc", "exact"] and "mc_a_stderr" in several.cells


def test_optimize() -> None:
    found = belsim.optimize([belsim.code("binary", 8)], bits=3, steps=200, r=0.4, sigma=1)
    assert found.code.shape == (8, 3)
    assert "codes[0]" in set(found.baselines["code"])
    assert {"code", "error"} <= set(found.baselines.columns)
    assert "8 levels, 3 bits" in repr(found)


def test_sweep(tmp_path: Path) -> None:
    plan = json.loads((ROOT / "testdata" / "sweep" / "plan.json").read_text())
    frame = belsim.sweep(plan, tmp_path / "results")
    assert len(frame) == 216
    worst = frame["worst_level"].dropna()
    if len(worst):
        assert worst.min() >= 0
    pd.testing.assert_frame_equal(frame, belsim.sweep(ROOT / "testdata" / "sweep" / "plan.json", tmp_path / "results"))
    plan = {"codes": ["unary"], "levels": np.array([8, 16]), "r": [0.1, 0.2, 0.3], "sigma": (1, 2, 2), "methods": ["exact"]}
    frame = belsim.sweep(plan, tmp_path / "ranges")  # a tuple is a range, as for heatmap, and a list has the values
    assert set(frame["levels"]) == {8, 16} and set(frame["r"]) == {0.1, 0.2, 0.3} and set(frame["sigma"]) == {1, 2}


def test_errors() -> None:
    with pytest.raises(belsim.Error, match=r'^unknown code "jonson" \(did you mean johnson\?\); want .* one of unary') as caught:
        belsim.compare(["jonson"])
    assert caught.value.exit_code == 2
    with pytest.raises(belsim.Error, match=r"^codes\[1\]: rows 0 and 1 are the same code word"):
        belsim.compare(["gray", np.zeros((2, 3))])
    large = np.zeros((2000, 1200), dtype=np.uint8)  # goes by file
    with pytest.raises(belsim.Error, match=r"codes\[0\]: rows 0 and 1 are the same code word"):
        belsim.compare([large])
    with pytest.raises(belsim.Error, match="want bools, integers or floats"):
        belsim.compare([np.array([["a", "b"]])])
    with pytest.raises(belsim.Error, match="want a list"):
        belsim.compare("unary")
    with pytest.raises(belsim.Error, match="r=-1: want a finite number from 0 on"):
        belsim.compare(["unary"], r=-1)


# What must be refused, in an expression with Z, y and labels; and the beginning of the message.
WRONG = [
    ("belsim.fit(5, Z, y)", "code: want the name of a code, or an L × M matrix"),
    ("belsim.fit('johnson', Z, y, kind='foo')", "kind = 'foo': want one of 'auto', 'logits', 'probabilities', 'bits'"),
    ("belsim.fit('johnson', Z, y, levels=16.5)", "levels: expected a whole number but got"),
    ("belsim.fit('johnson', Z, y, training='foo')", "training must be one of"),
    ("belsim.fit('johnson', Z, labels, range='ab')", "range = 'ab': want (a, b)"),
    ("belsim.fit('johnson', Z[:, None], y[:, None] / 2)", "targets[1, 0] = 0.5: want levels from 0"),
    ("belsim.fit('johnson', Z[:, [0, 0]], labels[:, None], range=[(0, 1)] * 2)", "targets of shape (160, 1): want (N, 2)"),
    ("belsim.fit('johnson', Z, labels, range=(0, 9), levels=16).plot(bits=[8])", "bits: 8: want bits, from 0 to 7"),
    ("belsim.decode(Z, 'johnson', levels=16, reads='foo')", "reads = 'foo': want one of 'auto', 'bits', 'logits'"),
    ("belsim.decode(Z, 'johnson', 5, levels=16)", "decoder = 5: want one of 'auto'"),
    ("belsim.decode(Z, 'johnson', 'gen-ex', levels=16, temperature='warm')", "temperature = 'warm': want a positive finite number"),
    ("belsim.quantize(labels, (0, 9), 3.5)", "levels = 3.5: want a whole number"),
    ("belsim.quantize([np.nan], (0, 9), 4)", "labels: 1 of 1 are no finite numbers (first: nan at index 0)"),
    ("belsim.dequantize(y, (0, 9), 1)", "levels = 1: want 2 at least"),
    ("belsim.compare(5)", "codes: want a list of names"),
    ("belsim.compare(['unary'], model=5)", "model = 5: want the path of a file"),
    ("belsim.compare(['unary'], levels=16, errors=np.ones((3, 3)))", "errors: table of 3 × 3 error probabilities"),
    ("belsim.heatmap(r=(1, 2))", "r = (1, 2): want (lo, hi, count)"),
    ("belsim.heatmap(r=5)", "r = 5: want (lo, hi, count)"),
    ("belsim.sweep({'codes': np.ones(3)}, folder)", "plan"),
    ("belsim.sweep({'codes': [np.ones((2, 2))]}, folder)", "plan: a matrix; want names of codes"),
    ("belsim.sweep({'codes': ['unary'], 'r': (1, 2)}, folder)", "plan: r = (1, 2): want (lo, hi, count)"),
    ("belsim.fit('johnson', Z, y + 1, levels=16)", "targets: row 15: target 16 is no level: want 0 to 15"),
    ("belsim.fit('direct', Z, y, levels=16)", "targets of shape (160,) for outputs of shape (160, 8): want (N, 8)"),
    (
        "belsim.fit('johnson', np.stack([Z, Z], 1), y, levels=16)",
        "targets of shape (160,) for outputs of shape (160, 2, 8): want (N, 2)",
    ),
    ("belsim.fit('johnson', np.stack([Z] * 4, 1), np.ones((160, 2, 2)), levels=16)", "targets of shape (160, 2, 2) for outputs"),
    (
        "belsim.fit('johnson', Z, np.stack([y, y], 1), levels=16)",
        "targets of shape (160, 2) for outputs of shape (160, 8): want (N,), or outputs (N, 2, M)",
    ),
    (
        "belsim.fit('johnson', np.stack([Z, Z], 1), np.stack([y, y], 1), levels=16, baseline=np.ones((160, 1, 2)))",
        "baseline of shape (160, 1, 2): want (160, 2), as targets have",
    ),
    ("belsim.fit(Z, 'johnson', y)", "outputs of texts: want bools"),
    ("belsim.quantize([1, 2.5, True], (0, 9), 4)", "labels: a bool among numbers; want numbers alone"),
    ("belsim.quantize(pd.Series([1, 2.5, True], dtype=object), (0, 9), 4)", "labels of objects: a bool among numbers"),
    ("belsim.encode([0], np.array([[1, 255], [255, 1]], np.uint8))", "code: all are 1 or 255, which is −1 in uint8"),
    ("belsim.decode(Z, 'johnson', levels=16, output_type='quantiles', quantiles=.5)", "quantiles: want a list of numbers"),
    ("belsim.decode(Z, 'johnson', levels=16, output_type='quantiles', quantiles=[1.5])", "quantiles: 1.5 is none; want numbers"),
    ("belsim.decode([[0, 0.0], [0.5, 0.5]], 'onehot', levels=2, kind='probabilities')", "outputs: row 0 is 0 for all levels"),
    ("belsim.decode([[0, 0.0], [0.5, 0.7]], 'softmax', kind='probabilities')", "outputs: row 0 is 0 for all levels"),
    ("belsim.fit(belsim.fit, Z, y)", "code: want the name of a code, or an L × M matrix"),
    ("belsim.compare(['unary'], levels=8, r=50.0, sigma=1)", "unary: r = 50 with σ = 1 is invalid: e[n,k] = 17.6 at level 0, bit 0"),
    ("belsim.compare(['unary'], levels=8, reads='foo')", "reads = 'foo': want one of 'auto'"),
    ("belsim.compare(['unary'], prior=[1, 1, -2])", "prior[2] = -2: want a number of 0 or more"),
    ("belsim.compare([np.full((4, 3), np.nan)])", "codes[0]: row 0, column 0: NaN"),
    ("belsim.Decoder.load(folder)", ""),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_use(call: str, message: str, tmp_path: Path) -> None:
    """Every error of use is a belsim.Error, in words of Python."""
    y = np.arange(160) % 16
    names = {
        "belsim": belsim,
        "np": np,
        "pd": pd,
        "Z": 4.0 * belsim.code("johnson", 16)[(y + 1) // 2 * 2 % 16] - 2,
        "y": y,
        "labels": y / 2,
    }
    with pytest.raises(belsim.Error) as caught:
        eval(call, {**names, "folder": tmp_path / "folder"})
    text = str(caught.value)
    assert text.startswith(message)
    assert "--" not in text and "-:" not in text and "…" not in text


def test_refused_arrays(network: Network, tmp_path: Path) -> None:
    """What has no dense numbers is refused by name; no array loses its mask, and no file stands for another."""
    gray = belsim.code("gray", 8)
    masked = np.ma.masked_array(gray, mask=gray > 5)
    masked[2, 1] = np.ma.masked
    with pytest.raises(belsim.Error, match=r"codes\[0\]: 1 of 24 values are masked \(first: index 2, 1\)"):
        belsim.compare([masked])
    with pytest.raises(belsim.Error, match=r"codes\[0\]: no array of numbers: .*inhomogeneous"):
        belsim.compare([[[0, 1], [1]]])
    with pytest.raises(belsim.Error, match="a name that no file can have"):
        belsim.compare(["gr\0ay"])
    with pytest.raises(belsim.Error, match="prior of 7 counts: want 8"):
        belsim.compare(["gray"], levels=8, prior=np.ones(7))
    with pytest.raises(belsim.Error, match=r"codes\[0\]: 8 rows, but 7 levels"):
        belsim.compare([gray], prior=np.ones(7))
    with pytest.raises(belsim.Error, match=r"^bits") as caught:
        belsim.optimize(levels=8)
    assert "--" not in str(caught.value)
    outputs, targets = network
    with pytest.raises(
        belsim.Error, match=r"(\d+) of 6000 targets \(first: index \d+\) are outside 2.6 to 4.2; clip them, or give outside='clip'"
    ):
        belsim.fit("johnson", outputs, targets, range=(2.6, 4.2), levels=64)
    clipped = belsim.fit("johnson", outputs, targets, range=(2.6, 4.2), outside="clip", levels=64)
    assert clipped.samples == 6000
    large = np.zeros((600, 600))
    np.save(tmp_path / "a.npy", large)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    np.save(tmp_path / "b.npy", large + 1)
    (tmp_path / "b.npy").replace(tmp_path / "a.npy")
    with _call.Inputs() as inputs:
        path = inputs.array(mapped, "mapped")
        np.testing.assert_array_equal(np.load(path), large)


def test_inputs(tmp_path: Path) -> None:
    """The first small array is standard input, others are files; a mapped file is read in place; no folder stays."""
    small, large = np.zeros((3, 4), dtype=np.float16), np.zeros((600, 600))
    np.save(tmp_path / "a.npy", large)
    with _call.Inputs() as inputs:
        assert inputs.array(small, "small") == "-"
        assert inputs._folder is None
        path = Path(inputs.array(large, "large"))
        assert inputs.rename(f"{path}: standard input") == "large: small"
        np.testing.assert_array_equal(np.load(path), large)
        mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
        assert inputs.array(mapped, "mapped") == str(tmp_path / "a.npy")
        assert inputs.array(mapped[1:], "part") != str(tmp_path / "a.npy")
    assert not path.parent.exists()


class Array:
    """Has ``__array__``, and nothing else."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self.values.astype(dtype or self.values.dtype)


def test_array_likes() -> None:
    gray = belsim.code("gray", 8)
    want = belsim.compare([gray], samples=100)["mean"]
    for like in (
        Array(gray),
        gray.tolist(),
        gray.astype(bool),
        np.asfortranarray(gray),
        pd.DataFrame(gray),
        gray.astype(np.longdouble),
    ):
        pd.testing.assert_series_equal(belsim.compare([like], samples=100)["mean"], want)


def test_sentences_from_zero(network: Network) -> None:
    """Levels, bits and outputs that a sentence names count from 0."""
    outputs, targets = network
    inner = (targets > 3) & (targets < 4)
    fit = belsim.fit("johnson", outputs[inner], targets[inner], range=(2.5, 4.3), levels=64)
    at = belsim.quantize(targets[inner], (2.5, 4.3), 64)
    first, last = int(at.min()), int(at.max())
    assert f"No target is of levels 0 to {first - 1} (" in str(fit).replace("\n", " ")
    assert f"levels {last + 1} to 63 (" in str(fit).replace("\n", " ")
    assert f"levels 0 to {first - 1} (" in fit.text.replace("\n", " ")


def test_failed_verification() -> None:
    v = belsim.verify("unary", levels=4, samples=100)
    assert v.passed is True
    assert "passed" in repr(v)
    assert belsim.verify("unary", levels=4, decoder="gen-ex", samples=100).passed is None


def test_pictures(network: Network, tmp_path: Path) -> None:
    """Pictures go on the user's axes, and have the data of the command's."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    outputs, targets = network
    fit = belsim.fit("johnson", outputs, targets, range=(2.5, 4.3), levels=64)
    _, axes = plt.subplots(2, 2)
    assert fit.plot(axes[0, 0], bits=[0, 31]) is axes[0, 0]

    def numbers(*command: str) -> pd.DataFrame:
        """What the command writes beside its picture."""
        subprocess.run([_call.executable(), *command, f"--output={tmp_path / 'numbers.csv'}"], check=True, stdout=subprocess.DEVNULL)
        return pd.read_csv(tmp_path / "numbers.csv")

    data = ROOT / "testdata" / "network"
    files = f"--outputs={data / 'logits.npy'}", f"--targets={data / 'targets.npy'}"
    rates = numbers("fit", "--code=johnson", "--levels=64", "--range=2.5:4.3", *files).dropna()
    for bit, shown in zip((1, 32), axes[0, 0].containers, strict=True):
        of = rates[rates["bit"] == bit]
        np.testing.assert_allclose(shown[0].get_xydata(), np.column_stack((of["level"] - 1, of["rate"])))
    assert axes[0, 0].get_title().startswith("Gaussian mixture: r = ")
    assert len(axes[0, 0].lines) == 4
    m = belsim.heatmap("unary", "johnson", levels=16, r=(0.1, 0.4, 3, "log"), sigma=(1, 4, 2))
    m.plot(axes[1, 0])
    shown = axes[1, 0].collections[0].get_array()
    of = numbers("heatmap", "unary", "johnson", "--levels=16", "--r=0.1:0.4:3:log", "--sigma=1:4:2")
    np.testing.assert_allclose(np.ravel(shown), of["bound_increase_percent"])
    assert (axes[1, 0].get_xscale(), axes[1, 0].get_yscale()) == ("log", "linear")
    v = belsim.verify("unary", levels=4, samples=100)
    v.plot(axes[1, 1])
    of = numbers("verify", "--code=unary", "--levels=4", "--samples=100")
    np.testing.assert_allclose([line.get_ydata() for line in axes[1, 1].lines[:2]], [of["bound"], of["exact"]])
    for ending in ("png", "svg", "pdf"):
        m.save(tmp_path / f"map.{ending}")
        assert (tmp_path / f"map.{ending}").stat().st_size > 1000
    with pytest.raises(belsim.Error, match="xyz"):
        m.save(tmp_path / "map.xyz")
    with pytest.raises(belsim.Error, match=r"^cannot write .*map\.png: there is no folder "):
        m.save(tmp_path / "none" / "map.png")
    with pytest.raises(belsim.Error, match=r"^ax = 5: want axes of matplotlib$"):
        v.plot(5)  # type: ignore[arg-type]
    fit.report(tmp_path / "report.html")
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    monkeypatch.setenv("BELSIM_PROGRESS", "20ms")
    belsim.compare(["hexj"], decoder="gen-ex", samples=20000, progress=True)
    assert "samples" in capsys.readouterr().err
    belsim.compare(["hexj"], decoder="gen-ex", samples=20000, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_interrupt(tmp_path: Path) -> None:
    """KeyboardInterrupt stops the command, also where the signal is for Python alone."""
    script = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a process in the background ignores it
        "import belsim\nprint('begin', flush=True)\nbelsim.compare(['hexj'], decoder='gen-ex', samples=10**8)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert stderr.rstrip().endswith("KeyboardInterrupt"), stderr
    with pytest.raises(ProcessLookupError):  # nobody is left in the session
        os.killpg(process.pid, 0)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_orphans(tmp_path: Path, sent: signal.Signals) -> None:
    """The command ends with its caller, in whatever way this one ends, and no folder stays."""
    script = (
        "import belsim, signal\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored\n"
        "c = [belsim.code(name, 1024) for name in ('hexj', 'onehot')]\nprint('begin', flush=True)\n"
        "belsim.compare(c, decoder='gen-ex', samples=10**8, progress=True)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    wait = time.monotonic() + 60
    while not list(tmp_path.glob("belsim-*/*.npy")):  # the command gets its files last
        assert time.monotonic() < wait
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(sent)
    process.wait()
    process.stdout.close()
    wait = time.monotonic() + 30
    while True:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < wait, "the command lives on"
        time.sleep(0.05)
    assert list(tmp_path.glob("belsim-*")) == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(("name", "value"), [("GOMEMLIMIT", "x"), ("GOMEMLIMIT", "-1"), ("ulimit", "500000")])
def test_crash(name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace of the command's runtime is one sentence."""
    if name == "ulimit":
        command = tmp_path / "belsim"
        command.write_text(f'#!/bin/sh\nulimit -c 0; ulimit -v {value}\nexec "{_call.executable()}" "$@"\n')
        command.chmod(0o755)
        monkeypatch.setattr(_call, "executable", lambda: str(command))
    monkeypatch.setenv(name, value)
    with pytest.raises(belsim.Error) as error:
        belsim.compare(["unary"], levels=8, samples=100)
    assert error.value.exit_code == 3
    assert "\n" not in str(error.value) and len(str(error.value)) < 150, error.value


@pytest.mark.skipif(os.name == "nt", reason="a script of Unix")
def test_one_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call starts belsim once, and hands over the targets by standard input."""
    rng = np.random.default_rng(1)
    c = belsim.code("hadamard", 64)
    level = rng.integers(0, 64, 10_000)
    z = (2.0 * c[level] - 1 + rng.normal(size=(10_000, 64))).astype(np.float32)
    fit = belsim.fit("hadamard", z, level, levels=64)
    (tmp_path / "ready.json").write_text(fit.json)
    ready = tmp_path / "ready"
    copy = f'for last; do :; done\ncp {tmp_path}/ready.json "${{last#--output=}}"\n'
    ready.write_text(f"#!/bin/sh\necho start >>{tmp_path}/starts\n{copy}cat >{tmp_path}/in.npy\necho verdict\n")
    ready.chmod(0o700)

    monkeypatch.setattr(_call, "executable", lambda: str(ready))
    again = belsim.fit("hadamard", z, level, levels=64)
    assert again.json == fit.json
    assert np.load(tmp_path / "in.npy").shape == (10_000,)  # the targets came by standard input
    assert (tmp_path / "starts").read_text() == "start\n"


def test_documented() -> None:
    """Every public name has a docstring, with an example, with shapes where it takes arrays, and says what levels are."""
    for name in belsim.__all__:
        doc = str(inspect.getdoc(getattr(belsim, name)))
        assert ">>>" in doc or name in ("Error", "Fit", "Heatmap", "Optimized", "Verification"), name  # others make them
        names_source = "Source:" in doc or name in ("Error", "Fit", "Heatmap", "Optimized", "Verification", "bench", "sweep")
        assert names_source, name  # the results are of functions that do
    for f in (belsim.fit, belsim.encode, belsim.decode, belsim.code):
        assert re.search(r"\(.*[LMN].*\)|\(\.\.\., M\)", str(f.__doc__)), f
        assert re.search("from 0", str(f.__doc__)), f
    assert "count from 0" in str(belsim.__doc__)
    assert (Path(belsim.__file__).with_name("py.typed")).exists()


def test_command() -> None:
    command = [sys.executable, "-m", "belsim", "codes", "gray", "--levels", "4"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert text == "0,0\n0,1\n1,1\n1,0\n"


def test_licences() -> None:
    folder = Path(belsim.__file__).parent / "licenses"
    assert "MIT" in (folder / "LICENSE").read_text()
    assert "gonum.org/v1/gonum" in (folder / "THIRD-PARTY-LICENSES.txt").read_text()


def test_lists_of_values() -> None:
    m = belsim.heatmap("unary", "johnson", levels=16, r=[0.1, 0.2, 0.4], sigma=np.array([1.0, 4.0]))
    assert list(m.r) == [0.1, 0.2, 0.4] and list(m.sigma) == [1, 4]


def test_usetex(network: Network, tmp_path: Path) -> None:
    """With text.usetex every text is TeX: no sign of it stands for itself, and no letter is Greek."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    path = tmp_path / "50%_σ&#.npy"
    np.save(path, belsim.code("gray", 8))
    fit = belsim.fit("johnson", network[0][:3000], network[1][:3000], range=(2.5, 4.3), levels=64)
    with matplotlib.rc_context({"text.usetex": True}):
        axes = [
            belsim.heatmap(str(path), "johnson", levels=8, r=(0.1, 0.4, 2), sigma=(1, 4, 2), method="exact").plot(),
            belsim.verify("unary", levels=4, samples=100).plot(),
            fit.plot(),
        ]
        drawn = {t.get_text() for ax in axes for t in cast("Any", ax.figure).findobj(matplotlib.text.Text)}
        assert any(r"50\%\_$\sigma$\&\#" in text for text in drawn)
        for text in drawn:
            plain = re.sub(r"\$[^$]*\$|\\[%_#&${}]|\\text\w+\{\}", "", text)
            assert text.isascii() and not re.search(r"[%_#&$\\~^|<>]", plain), text
        if shutil.which("latex"):
            for ax in axes:
                cast("Any", ax.figure).canvas.draw()


def test_hatched() -> None:
    """Cells of a map without a number are hatched."""
    pytest.importorskip("matplotlib").use("agg")
    ax = belsim.heatmap("unary", "johnson", levels=8, r=(1, 8, 4), sigma=(1, 2, 2)).plot()
    figure = cast("Any", ax.figure)
    figure.set_size_inches(3.25, 2.2)  # a column of a paper
    figure.canvas.draw()
    assert figure.axes[1].yaxis.label.get_window_extent().height < figure.bbox.height
    assert ax.patch.get_hatch() and np.ma.getmaskarray(cast("Any", ax.collections[0].get_array())).any()


def test_html(network: tuple[NDArray[np.float32], NDArray[np.float64]]) -> None:
    """Jupyter shows results as text and tables, whatever is in their names."""
    z, y = network
    fit = belsim.fit("johnson", z[:500], y[:500], levels=64, range=(2.5, 4.3))
    assert "best decoder" in fit._repr_html_() and "<table" in fit._repr_html_()
    paragraphs = re.findall("<p>(.*?)</p>", fit._repr_html_(), re.DOTALL)
    assert all(text.endswith(".") for text in paragraphs[1:-1]), paragraphs
    checked = belsim.verify("unary", levels=4, samples=100)
    assert checked._repr_html_().count("<tr") == 5
    checked.results["code"] = "<b>&"
    assert "<b>&" not in checked._repr_html_()
    assert "Heatmap" in belsim.heatmap("unary", "gray", levels=8, r=(0.1, 0.2, 2), sigma=(1, 2, 2))._repr_html_()
    assert "<table" in belsim.optimize(levels=8, bits=4, r=0.5, sigma=1, steps=20)._repr_html_()


def test_progress_as_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without tqdm progress is a line of text, which goes at the end."""
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "tqdm" else real(name, *a))
    monkeypatch.setenv("BELSIM_PROGRESS", "20ms")
    belsim.compare(["hexj"], decoder="gen-ex", samples=20000, progress=True)
    text = capsys.readouterr().err
    assert re.search(r"samples \d+ of \d+ \(\d+ %\)", text) and text.endswith(" \r") and "\n" not in text
    belsim.compare(["hexj"], decoder="gen-ex", samples=20000, progress=False)
    assert capsys.readouterr().err == ""


def _noisy(levels: int = 16) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Outputs of johnson and the levels, of 320 samples."""
    y: NDArray[np.int64] = np.arange(320, dtype=np.int64) % levels
    seen = np.clip(y + np.random.default_rng(1).integers(-1, 2, 320), 0, levels - 1)
    return 4 * belsim.code("johnson", levels)[seen].astype(np.float64) - 2, y


def test_batches() -> None:
    """A list of batches is the array that they are parts of where lengths say so, and is refused where they do not."""
    z, y = _noisy()

    def error(outputs: Any, targets: Any, **more: Any) -> float:
        return float(belsim.fit("johnson", outputs, targets, levels=16, **more).decoders["observed"].min())

    want = error(z, y)
    cuts = [100, 200, 300]
    parts = np.split(z, cuts), np.split(y, cuts)
    halves = np.split(z, 2), np.split(y, 2)
    for outputs, targets in (parts, ([z], [y]), (halves[0], y), (z, halves[1]), (list(z), list(y)), (tuple(parts[0]), y)):
        assert error(outputs, targets) == want
    assert error(*parts, baseline=parts[1]) == want
    for outputs, targets in (halves, ([z, z], np.stack([y, y], 1)), (halves[0], parts[1])):
        with pytest.raises(belsim.Error, match=r"outputs: a list of 2 arrays .*torch\.cat\(outputs\) joins"):
            error(outputs, targets)


def test_signed() -> None:
    """Arithmetic with bits has a sign, and outputs that lost theirs are refused."""
    z, y = _noisy()
    c = belsim.code("johnson", 16)
    assert (2 * c - 1).min() == -1 and (2 * belsim.encode(y, c) - 1).min() == -1
    assert (2 * belsim.optimize(levels=8, bits=4, steps=2, r=0.4, sigma=1).code - 1).min() == -1
    assert ((2 * c - 1) @ (2 * c - 1).T).max() == 8
    for kind in ("uint8", "uint16", "uint64"):
        lost = np.where(z > 0, 1, -1).astype(kind)
        for call in (lambda a: belsim.fit("johnson", a, y, levels=16), lambda a: belsim.decode(a, c)):
            with pytest.raises(belsim.Error, match=r"^outputs: all are 1 or \d+, which is −1 in uint"):
                call(lost)


def test_masked_arrays() -> None:
    """No argument takes the numbers under a mask."""
    y = np.ma.masked_array([0.1, 0.2, 0.3], mask=[False, True, False])
    ends = np.ma.masked_array([0.0, 1.0], mask=[False, True])
    one: Any = np.ma.masked_array(0.3, mask=True)
    nothing: Any = np.ma.masked
    calls: list[Any] = [
        lambda: belsim.quantize(y, (0, 1), 4),
        lambda: belsim.quantize([0.1, nothing], (0, 1), 4),
        lambda: belsim.quantize([0.1], y, 3),
        lambda: belsim.quantize([0.1], ends, 3),
        lambda: belsim.compare(["gray"], levels=8, r=one),
        lambda: belsim.compare(["gray"], levels=8, r=nothing),
    ]
    for call in calls:
        with pytest.raises(belsim.Error, match="mask"):
            call()
    with pytest.raises(belsim.Error, match=r"level: 1 of 2 are no finite numbers \(first: nan at index 1\)"):
        belsim.dequantize([0, np.nan], (0, 1), 4)
    with pytest.raises(belsim.Error, match=r"progress = array.*: want True or False"):
        belsim.compare(["gray"], levels=8, samples=2, progress=np.array([1, 2]))  # type: ignore[arg-type]


def test_columns_of_objects() -> None:
    """Numbers of any column are numbers; what is none is named."""
    for column in (
        pd.Series([1, 2], dtype="Int64"),
        pd.Series([1, 2.0, True][:2], dtype=object),
        pd.DataFrame({"a": [1], "b": [2.0]}).loc[0],
    ):
        assert belsim.quantize(column, (0, 4), 5).tolist() == [1, 2]
    for column in (pd.Series([1, None], dtype="Int64"), pd.Series([1, "x"], dtype=object)):
        with pytest.raises(belsim.Error, match=r"labels.* at index 1"):
            belsim.quantize(column, (0, 4), 5)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    z, _ = _noisy()
    for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        np.testing.assert_array_equal(
            belsim.decode(z.astype(kind), "johnson", "gen", levels=16), belsim.decode(z, "johnson", "gen", levels=16)
        )


def test_name_of_error() -> None:
    assert f"{belsim.Error.__module__}.{belsim.Error.__qualname__}" == "belsim.Error"


def test_terminal(tmp_path: Path) -> None:
    """A terminal that lacks signs shows what stands for them in ASCII."""
    script = (
        "import numpy as np, belsim\ny = np.arange(320) % 16\n"
        "z = 4.0 * belsim.code('johnson', 16)[np.clip(y + np.random.default_rng(1).integers(-1, 2, 320), 0, 15)] - 2\n"
        "fit = belsim.fit('johnson', z, y, levels=16, baseline=y + 0.9)\n"
        "print(fit, repr(fit), fit.text)\n"
        "belsim.decode(z, 'johnson', levels=16, kind='wrong' if 0 else 'bits')"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, env=environment)
    out, err = done.stdout.decode("cp1252"), done.stderr.decode("cp1252")
    assert "best decoder" in out and "UnicodeEncodeError" not in err and "this network is better: " in out and "sigma, levels" in out, (
        err
    )
    assert err.rstrip().endswith("all of -1 and 1") and "belsim.Error: outputs" in err


def test_costs() -> None:
    """Exact costs are sums over the confusion matrix."""
    n, errors = np.arange(4), np.full((4, 3), 0.1)
    found = belsim.verify("unary", levels=4, errors=errors, samples=500, cost="squared", confusion=True)
    assert found.passed and found.cost == "squared" and found.unit == "levels²" and found.results["confusion"] == "exact"
    assert found.confusion is not None
    np.testing.assert_allclose(found.confusion.sum(1), 1, rtol=1e-12)
    squared = (found.confusion * (n[:, None] - n) ** 2).sum(1)
    np.testing.assert_allclose(found.labels["exact"], squared, rtol=1e-10)
    table = belsim.compare(["unary"], levels=4, errors=errors, samples=500, cost=(n[:, None] - n) ** 2.0)
    np.testing.assert_allclose(table["exact"], squared.mean(), rtol=1e-10)
    assert belsim.verify("unary", levels=4, samples=100).confusion is None
