"""encode and decode in NumPy are what the command does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import belsim
from belsim._call import Inputs, flags, run

NAMES = list(belsim.codes(8)["code"])


def commanded(c: NDArray[Any], z: NDArray[Any], reads: str, temperature: float) -> dict[str, NDArray[np.float64]]:
    """What the command decodes, by each decoder that fits the code."""
    found = {}
    for name in ("bel-u", "bel-j", "gen", "gen-ex", "auto"):
        with Inputs() as inputs, suppress(belsim.Error):
            labels = inputs.path("labels.npy")
            outputs = f"{reads}:{inputs.array(z > 0 if reads == 'bits' else z.astype(np.float64), 'outputs')}"
            of = flags(decoder=name, code=inputs.array(c, "code"), outputs=outputs, output=labels)
            run(["decode", *of, *flags(temperature=temperature if name == "gen-ex" else None)], inputs)
            found[name] = np.load(labels) - 1
    return found


@st.composite
def samples(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any]]:
    """A code, named, random or of real numbers, and outputs for it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from([*NAMES, "random", "real"]))
    levels = draw(st.integers(2, 40))
    if kind in NAMES:
        c: NDArray[Any] = belsim.code(kind, levels)
    elif kind == "random":
        c = np.unique(rng.integers(0, 2, (levels, draw(st.integers(7, 70)))), axis=0).astype(np.uint8)
    else:
        c = rng.normal(size=(levels, draw(st.integers(2, 70))))  # of one number, two words may be the same but for rounding
    z = draw(st.sampled_from([0.1, 1.0, 30.0])) * rng.normal(size=(draw(st.integers(1, 30)), c.shape[1]))
    if draw(st.booleans()):  # words that are nearly right
        z += 3 * (2.0 * (c[rng.integers(0, len(c), len(z))] > 0.5) - 1)
    if draw(st.booleans()):  # correlations that are equal, or would be without roundings
        z = np.round(z, draw(st.integers(0, 1)))
    return c, z


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(samples(), st.sampled_from(["bits", "logits"]), st.sampled_from([0.3, 1.0, 4.0]))
def test_decode(sample: tuple[NDArray[Any], NDArray[Any]], reads: Any, temperature: float) -> None:
    c, z = sample
    if c.dtype != np.int32 and reads == "bits":
        return  # auto gives logits to codes of real numbers
    want = commanded(c, z, reads, temperature)
    assert {"gen", "gen-ex", "auto"} <= set(want)
    for name, levels in want.items():
        soft = name == "gen-ex" or (reads == "logits" and (name == "gen" or (name == "auto" and belsim._codes.fitting(c) == "gen")))
        got = belsim.decode(
            z, c, name, kind="logits", reads="logits" if soft and reads == "logits" else "bits", temperature=temperature
        )
        assert got.shape == levels.shape
        if name == "gen-ex":
            np.testing.assert_allclose(got, levels, rtol=1e-9, atol=1e-9)
            continue
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, levels, err_msg=name)
    for name in {"bel-u", "bel-j"} - set(want):
        with pytest.raises(belsim.Error, match="use gen"):
            belsim.decode(z, c, name, kind="logits", reads="bits")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES), st.integers(2, 300))
def test_encode(name: str, levels: int) -> None:
    c = belsim.code(name, levels)
    assert c.dtype == np.int32
    assert len(c) == levels
    np.testing.assert_array_equal(belsim.encode(np.arange(levels), c), c)
    np.testing.assert_array_equal(belsim.encode([0, levels - 1], name, levels=levels), c[[0, -1]])  # both ends
    np.testing.assert_array_equal(belsim.decode(c, c), np.arange(levels))  # every word is its level's
    with pytest.raises(belsim.Error, match=f"level {levels}: want 0 to {levels - 1}"):
        belsim.encode([levels], c)
    with pytest.raises(belsim.Error, match="level -1"):
        belsim.encode([[0, -1]], c)


def test_ties() -> None:
    """The largest exact correlation, the lowest of several: with fractions."""
    rng = np.random.default_rng(1)
    changed = 0
    for name in ("johnson", "b1jdj", "hadamard"):
        c = belsim.code(name, 16)
        z = rng.integers(-4, 5, (100, c.shape[1])) / 10
        exact = [[sum(Fraction(v) for v, bit in zip(row, word, strict=True) if bit) for word in c] for row in z.tolist()]
        want = [sums.index(max(sums)) for sums in exact]
        np.testing.assert_array_equal(belsim.decode(z, c, "gen", reads="logits"), want)
        changed += int(((z @ c.T).argmax(axis=1) != want).sum())
    assert changed > 0  # roundings would decide some


def test_kinds() -> None:
    c = belsim.code("johnson", 16)
    p = np.linspace(0, 1, 4 * c.shape[1]).reshape(4, -1)
    with np.errstate(divide="ignore"):
        z = np.clip(np.log(p) - np.log1p(-p), -27.63, 27.63)
    for decoder in ("bel-j", "gen", "gen-ex"):
        np.testing.assert_allclose(belsim.decode(p, c, decoder, kind="probabilities"), belsim.decode(z, c, decoder), rtol=1e-3)
    assert belsim.decode(z.reshape(2, 2, -1), c).shape == (2, 2)
    assert belsim.decode(z[0], "johnson", levels=16).shape == ()
    with pytest.raises(belsim.Error, match="outputs"):
        belsim.decode(p[:, 1:], c)
    with pytest.raises(belsim.Error, match="probabilities from 0 to 1"):
        belsim.decode(p + 1, c, kind="probabilities")


_C = belsim.code("johnson", 16)
_RNG = np.random.default_rng(1)
_LEVEL = np.arange(320) % 16
_Z = 2.0 * _C[np.clip(_LEVEL + _RNG.integers(-1, 2, 320), 0, 15)] - 1 + _RNG.normal(scale=0.4, size=(320, 8))
_P = 1 / (1 + np.exp(-_Z))
_SOFTMAX = np.exp(_Z) / np.exp(_Z).sum(1, keepdims=True)
# Outputs, and what they are: a kind, or a part of their refusal.
_OUTPUTS: dict[str, tuple[NDArray[Any], str]] = {
    "bools": (_Z > 0, "bits"),
    "0 and 1, integers": (np.where(_Z > 0, 1, 0).astype(np.uint8), "bits"),
    "0 and 1, floats": (np.where(_Z > 0, 1.0, 0.0), "bits"),
    "±1, integers": (np.where(_Z > 0, 1, -1).astype(np.int8), "signs"),
    "±1, floats": (np.where(_Z > 0, 1, -1).astype(np.float32), "signs"),
    "−1, 0 and 1": (np.sign(_Z) * (np.abs(_Z) > 0.2), "logits"),
    "integers": (np.round(20 * _Z).astype(np.int64), "logits"),
    "probabilities": (_P, "probabilities"),
    "probabilities, float32": (_P.astype(np.float32), "probabilities"),
    "probabilities, float16": (_P.astype(np.float16), "probabilities"),
    "probabilities, some certain": (np.where(np.abs(_Z) > 1, _Z > 0, _P), "probabilities"),
    "probabilities, added up": (np.where(_P > 0.8, np.float32(1 + 2e-7), _P), "probabilities"),
    "logits": (_Z, "logits"),
    "logits, float16": (_Z.astype(np.float16), "logits"),
    "logits, small": (_Z / 1e6, "logits"),
    "logits, few outside of 0 to 1": (np.where(np.arange(320)[:, None] == 7, _Z, _P), "logits"),
    "logits, huge": (_Z * 1e200, "larg"),
    "logits, tiny": (_Z * 1e-200, "largest"),
    "NaN": (np.where(_P > 0.9, np.nan, _P), "finite|NaN"),
    "infinity": (np.where(_P > 0.9, np.inf, _P), "finite|Inf"),
}


@pytest.fixture(scope="module")
def fitted() -> belsim.Decoder:
    return belsim.fit("johnson", _Z, _LEVEL, levels=16, fit_decoder=True).decoder


@pytest.mark.filterwarnings("ignore:outputs. read as probabilities")
@pytest.mark.parametrize("name", _OUTPUTS)
def test_one_rule(name: str, fitted: belsim.Decoder) -> None:
    """The same outputs are of the same kind, or refused, in fit, in both ways to decode, and in the command."""
    z, want = _OUTPUTS[name]
    calls: list[Callable[[], object]] = [lambda: belsim.fit("johnson", z, _LEVEL, levels=16).kind]
    calls += [lambda d=d: belsim.decode(z, _C, d) for d in ("bel-j", "gen", "gen-ex", "auto")]  # type: ignore[misc]
    calls += [lambda: fitted.decode(z)]
    if want not in ("bits", "signs", "logits", "probabilities"):
        for call in calls:
            with pytest.raises(belsim.Error, match=want):
                call()
        return
    assert calls[0]() == want
    said: Any = "bits" if want == "signs" else want
    for d in ("bel-j", "gen", "gen-ex"):
        with Inputs() as inputs:
            labels = inputs.path("labels.npy")
            of = flags(decoder=d, code="johnson", levels=16, outputs=inputs.array(z, "outputs"), output=labels)
            run(["decode", *of], inputs)
            command = np.load(labels) - 1
        found = belsim.decode(z, _C, d)
        np.testing.assert_allclose(found, command, rtol=0, atol=1e-9 if d == "gen-ex" else 0)
        np.testing.assert_array_equal(found, belsim.decode(z, _C, d, kind=said))
    if said == "bits":
        with pytest.raises(belsim.Error, match=f"these outputs are {want}"):
            fitted.decode(z)
    else:
        np.testing.assert_array_equal(fitted.decode(z), fitted.decode(z, kind=said))


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_softmax_over_bits(dtype: type[np.floating[Any]]) -> None:
    """A softmax over the columns is no output of bits, but of one-hot words."""
    for z in (_SOFTMAX.astype(dtype), np.log(_SOFTMAX).astype(dtype)):
        refused = []
        for read in (lambda z: belsim.fit("johnson", z, _LEVEL, levels=16), lambda z: belsim.decode(z, "johnson", levels=16)):
            with pytest.raises(belsim.Error, match="of every row add up to 1, as those of a softmax over the columns do") as error:
                read(z)
            refused.append(str(error.value))
        assert refused[0].startswith(refused[1])  # fit says as well what else they may be
    belsim.decode(np.log(_SOFTMAX), np.eye(_SOFTMAX.shape[1]), "gen")


@pytest.mark.parametrize("code", ["onehot", "softmax"])
def test_softmax(code: str) -> None:
    """Probabilities of levels are read as such, whichever of their names the code has; what does not add up to 1 is told."""
    p = np.array([[0.6, 0.3, 0.1], [0, 0.25, 0.75]])
    assert belsim.decode(p, code, "gen-ex", levels=3, kind="probabilities") == pytest.approx(p @ np.arange(3))
    assert belsim.decode(p, code, "gen", levels=3, kind="probabilities").tolist() == [0, 2]
    full = belsim.decode(p, code, "gen-ex", levels=3, kind="probabilities", output_type="full")
    np.testing.assert_allclose(full["probabilities"], p, atol=1e-11)
    np.testing.assert_allclose(full["mean"], p @ np.arange(3))
    told = pytest.warns(UserWarning, match=r"1 of [12] rows of probabilities do not add up to 1, such as row [01] with 0.8")
    with told:
        both = belsim.decode([[0.6, 0.3, 0.1], [0.2, 0.2, 0.4]], code, "gen-ex", levels=3, kind="probabilities")
    np.testing.assert_allclose(both, [0.5, 1.25])
    odds = np.array([0.2 / 0.8, 0.2 / 0.8, 0.4 / 0.6])  # of bits
    with told if code == "softmax" else nullcontext():
        one = belsim.decode([0.2, 0.2, 0.4], code, "gen-ex", levels=3, kind="probabilities")
    assert one == pytest.approx(1.25 if code == "softmax" else odds @ np.arange(3) / odds.sum())


@pytest.mark.parametrize("more", [{}, {"range": (0, 15)}, {"range": np.arange(16.0) ** 2}])
def test_missing_targets(more: dict[str, Any]) -> None:
    """A target that is NaN is refused, and the number of them is said."""
    y = _LEVEL.astype(float)
    y[[3, 5]] = np.nan
    with pytest.raises(belsim.Error, match=rf"targets: 2 of {len(y)} are no finite numbers \(first: nan at index 3\)"):
        belsim.fit("johnson", _Z, y, levels=16, **more)


def test_no_wrong_output() -> None:
    """A network without a wrong bit has its errors, and no model."""
    z = 4.0 * belsim.code("johnson", 16)[_LEVEL] - 2
    right = belsim.fit("johnson", z, _LEVEL + 0.25 * (_LEVEL < 15), levels=16, range=(0, 15))
    np.testing.assert_allclose(right.decoders["observed"].iloc[0], 0.25 * (_LEVEL < 15).mean())
    assert right.r == 0


def test_wide_logits() -> None:
    """gen-ex is right for logits of all sizes, whose sums have roundings of whole logits."""
    rng = np.random.default_rng(1)
    for name in ("unary", "johnson", "hexj", "gray"):
        c = belsim.code(name, 16)
        z = rng.choice([-1.0, 1.0], (60, c.shape[1])) * 10 ** rng.choice([-16, -1, 0, 0.1, 16, 16.05], (60, c.shape[1]))
        want = []
        for row in z.tolist():
            sums = [sum((Fraction(v) for v, bit in zip(row, word, strict=True) if bit), Fraction()) for word in c]
            p = np.exp([float(s - max(sums)) for s in sums])
            want.append(p @ np.arange(16) / p.sum())
        for got in (belsim.decode(z, c, "gen-ex", kind="logits"), commanded(c, z, "logits", 1.0)["gen-ex"]):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)  # of 1e-6 that a sum may be wrong by


def test_read_as_probabilities(fitted: belsim.Decoder) -> None:
    """What was decided is said where the outputs may be something else."""
    for decode in (lambda: belsim.decode(_P, _C, "gen"), lambda: fitted.decode(_P)):
        with pytest.warns(UserWarning, match="outputs: read as probabilities, because all are from 0 to 1; say so if they are logits"):
            decode()


@settings(deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(2, 1000))
def test_quantize(lo: float, width: float, levels: int) -> None:
    span = (lo, lo + width)
    n = np.arange(levels)
    labels = belsim.dequantize(n, span, levels)
    np.testing.assert_allclose(labels[[0, -1]], span, atol=1e-9)
    np.testing.assert_array_equal(belsim.quantize(labels, span, levels), n)
    beyond = [lo - 1, lo + width + 1]
    np.testing.assert_array_equal(belsim.quantize(beyond, span, levels, outside="clip"), [0, levels - 1])
    with pytest.raises(belsim.Error, match=r"2 of 2 labels \(first: index 0\) are outside"):
        belsim.quantize(beyond, span, levels)


def test_quantize_refuses() -> None:
    for labels, text in ([0.5, np.nan], "nan at index 1"), ([np.inf], "inf at index 0"):
        with pytest.raises(belsim.Error, match=text):
            belsim.quantize(labels, (0, 1), 4)
    with pytest.raises(belsim.Error, match=r"range = \(1, 0\): want finite numbers, the smaller first"):
        belsim.quantize([0.5], (1, 0), 4)
    with pytest.raises(belsim.Error, match="levels = 1: want 2 at least"):
        belsim.quantize([0.5], (0, 1), 1)
    with pytest.raises(belsim.Error, match="outside = 'wrap': want one of 'refuse', 'clip'"):
        belsim.quantize([0.5], (0, 1), 4, outside="wrap")  # type: ignore[arg-type]
