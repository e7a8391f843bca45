"""Predictions, labels and outputs of any type give what the same numbers give in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import belsim
from belsim import _codes, _commands

FLOATS: list[Any] = [np.float16, np.float32, np.float64, np.longdouble]
INTEGERS: list[Any] = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
TYPES = FLOATS + INTEGERS
LARGEST = 60000  # that all floats have


@st.composite
def arrays(draw: st.DrawFn, least: float = 0) -> NDArray[Any]:
    """Numbers of a type, with both ends of it among them."""
    kind = draw(st.sampled_from(TYPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = draw(st.sampled_from([1.0, 100.0, 255.0, 2048.0, LARGEST]))
    if kind in INTEGERS:
        most = min(most, np.iinfo(kind).max)
    return np.concatenate((rng.uniform(least, most, 30), [least, most])).astype(kind)


def wide(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64)


@settings(deadline=None)
@given(arrays())
def test_levels(y: NDArray[Any]) -> None:
    """Levels as targets and predictions: what is added to them is added in float64."""
    found = np.asarray(_commands._predictions(y, None, "baseline"))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, wide(y) + 1)
    level = np.floor(y)
    np.testing.assert_array_equal(_commands._targets(level, None, "refuse", circular=False), wide(level) + 1)
    np.testing.assert_array_equal(belsim.dequantize(y, (-3, 1e6), 7), belsim.dequantize(wide(y), (-3, 1e6), 7))
    if level.max() < 2**12:
        np.testing.assert_array_equal(belsim.encode(level, "gray", levels=2**12), belsim.encode(wide(level), "gray", levels=2**12))


@settings(deadline=None)
@given(arrays(), st.integers(2, 5000), st.floats(0, 0.3))
def test_labels(y: NDArray[Any], levels: int, margin: float) -> None:
    """Real labels, whose range may end where the type cannot tell it from the next numbers."""
    ends = wide(y).min(), wide(y).max()
    span = ends[0] - margin, ends[1] + margin
    for outside in ("refuse", "clip"):
        np.testing.assert_array_equal(belsim.quantize(y, span, levels, outside=outside), belsim.quantize(wide(y), span, levels))
    inner = ends[0] + (ends[1] - ends[0]) / 3, ends[1] - (ends[1] - ends[0]) / 3
    np.testing.assert_array_equal(
        belsim.quantize(y, inner, levels, outside="clip"), belsim.quantize(np.clip(wide(y), *inner), inner, levels)
    )
    if y.dtype.kind == "f":  # an end that the type rounds outwards is inside, and no label is beyond an end
        rounding = float(np.finfo(y.dtype).eps) / 4 if y.dtype == np.float16 else 1e-7
        near = ends[0] + rounding * ends[1], ends[1] * (1 - rounding)
        assert _codes.within(y, near, "refuse", "labels").max() <= near[1]


C = belsim.code("johnson", 16)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(TYPES), st.sampled_from(["bel-j", "gen", "gen-ex"]), st.integers(0, 2**32 - 1), st.sampled_from([2.0, 11.0, 127.0])
)
def test_outputs(kind: Any, decoder: Any, seed: int, largest: float) -> None:
    z = np.random.default_rng(seed).uniform(0 if np.dtype(kind).kind == "u" else -largest, largest, (20, C.shape[1])).astype(kind)
    for said in ("logits", "auto"):
        np.testing.assert_array_equal(belsim.decode(z, C, decoder, kind=said), belsim.decode(wide(z), C, decoder, kind=said))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.uint8])
def test_fit(kind: Any) -> None:
    """The error of direct regression through the command, at the end of what uint8 and float16 have."""
    y = np.arange(256) % 256
    predictions = np.clip(y + np.random.default_rng(1).normal(0, 9, 256), 0, 255).astype(kind)
    found = [belsim.fit("direct", p, y, levels=256).decoders["observed"].tolist() for p in (predictions, wide(predictions))]
    assert found[0] == found[1]
