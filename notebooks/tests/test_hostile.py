"""Arguments of any kind, in all public functions and methods: they work, or are refused in one sentence."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import belsim


class Broken:
    """Everything that NumPy, Python and the command line may ask of it fails."""

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("broken\nin two lines")

    __repr__ = __str__ = __array__ = __float__ = __index__ = __iter__ = __len__ = __fspath__ = __bool__ = _fail
    __eq__ = __hash__ = detach = _fail


# What is lambda is made anew for each call.
HOSTILE: dict[str, Any] = {
    "None": None, "object": object(), "broken": Broken(), "class": Broken, "function": len,
    "generator": lambda: (i for i in range(3)), "True": True, "False": False, "bool of NumPy": np.bool_(True), "zero": 0,
    "minus": -1, "real": 2.5, "nan": float("nan"), "inf": float("inf"), "minus inf": -np.inf, "float16": np.float16(np.nan),
    "huge": 10**30, "thousands of digits": 10**5000, "minus huge": -(10**30), "decimal": Decimal("NaN"),
    "large decimal": Decimal("1e999"), "fraction": Fraction(1, 3), "complex": 1 + 2j, "0-d complex": np.array(1j),
    "empty text": "", "text": "1", "word": "\u202eé x", "NUL": "a\0b", "lines": "a\nb", "surrogate": "a\udcff",
    "long text": "x" * 200_000, "comma": "a,b", "colon": "a:b", "flag": "--help", "bytes": b"gray",
    "path": Path("no such file"), "path with NUL": Path("a\0b"), "folder": Path("/"), "empty list": [], "texts": ["a", "b"],
    "Nones": [None, None], "ragged": [[1], [1, 2]], "dict": {}, "set": {1, 2}, "range": range(3), "bools": [True, False],
    "tuple": (1, 2), "triple": (3, 2, 1), "nans": [np.nan] * 3, "nan pair": (np.nan, np.nan), "no elements": np.empty(0),
    "no rows": np.empty((0, 8)), "no columns": np.empty((8, 0)), "0-d": np.array(2.5), "1-d": np.arange(4.0),
    "4-d": np.zeros((2, 1, 1, 2)), "array of texts": np.array(["a", "b"]), "array of complex": np.ones((16, 8)) * 1j,
    "array of objects": np.array([None, 1]), "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "structure": np.zeros(3, "i4,f4"), "infinities": np.full((320, 8), np.inf), "huge floats": np.full((320, 8), 1e308),
    "uint64": np.full(320, 2**64 - 1, np.uint64), "masked": np.ma.masked, "NA": pd.NA, "NaT": pd.NaT,
}  # fmt: skip

Y = np.arange(320) % 16
C = belsim.code("johnson", 16)
Z = 4.0 * C[np.clip(Y + np.random.default_rng(1).integers(-1, 2, 320), 0, 15)] - 2
PLAN = {"codes": ["unary"], "levels": [8], "r": "0.5", "sigma": "1", "methods": ["exact"]}

Call = Callable[..., object]

CALLS: dict[str, tuple[Call, dict[str, Any]]] = {
    "code": (belsim.code, {"name": "gray", "levels": 4}),
    "codes": (belsim.codes, {"levels": 4}),
    "encode": (belsim.encode, {"level": [0, 3], "code": "gray", "levels": 4}),
    "encode by a matrix": (belsim.encode, {"level": [0, 3], "code": C, "levels": None}),
    "decode": (
        belsim.decode,
        {"outputs": Z, "code": C, "decoder": "gen-ex", "levels": None, "kind": "logits", "reads": "auto", "temperature": 1},
    ),
    "quantize": (belsim.quantize, {"labels": Y / 2, "range": (0, 9), "levels": 16, "outside": "clip"}),
    "dequantize": (belsim.dequantize, {"level": Y, "range": (0, 9), "levels": 16}),
    "compare": (belsim.compare, {"codes": ["gray"], "levels": 8, "samples": 2}),
    "verify": (belsim.verify, {"code": "gray", "levels": 8, "samples": 2}),
    "heatmap": (belsim.heatmap, {"a": "gray", "b": "unary", "levels": 8, "r": (0.1, 0.2, 2), "sigma": (1, 2, 2)}),
    "fit": (belsim.fit, {"code": "johnson", "outputs": Z, "targets": Y, "levels": 16}),
    "fit of labels": (belsim.fit, {"code": "johnson", "outputs": Z, "targets": Y / 2, "range": (0, 7.5), "levels": 16}),
    "fit of regression": (belsim.fit, {"code": "direct", "outputs": Y + 0.5 - Y % 2, "targets": Y, "levels": 16}),
    "optimize": (belsim.optimize, {"levels": 8, "bits": 4, "steps": 2, "r": 0.4, "sigma": 1}),
    "bench": (belsim.bench, {}),
    "sweep": (belsim.sweep, {"plan": PLAN, "folder": "results"}),
    "Decoder": (belsim.Decoder, {"content": b""}),
    "Decoder.load": (belsim.Decoder.load, {"path": "no.npz"}),
}  # fmt: skip


def attack(call: Call, argument: str, value: object, fell: list[str]) -> None:
    """Calls with one argument replaced, and notes what is neither done nor refused in one sentence."""
    try:
        call(value() if inspect.isfunction(value) else value)
    except belsim.Error as error:
        text = str(error)
        # Neither lines, nor flags, nor types and addresses of Python and Go; a name of one's own may be long.
        strange = re.search(r"\n|Traceback|goroutine|object at 0x|\.go:\d|__\w+__", text)
        if not text or strange or (len(text) > 700 and "x" * 99 not in text):
            fell.append(f"{argument}: {text[:300]!r}")
    except Exception as error:
        fell.append(f"{argument}: {type(error).__name__}: {str(error)[:200]!r}")


def arguments(call: Call, given: dict[str, Any]) -> Iterator[tuple[str, Call]]:
    """Each parameter of a function, and the call that replaces it."""
    for name in inspect.signature(call).parameters:
        if name != "progress":
            yield name, lambda value, name=name: call(**{**given, name: value})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


EVERY = 5  # of the values, in turn, so that the test takes half a minute; 1 takes all


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_functions(name: str) -> None:
    fell: list[str] = []
    call, given = CALLS[name]
    for i, (parameter, replaced) in enumerate(arguments(call, given)):
        if name == "bench":
            continue  # it measures for seconds
        for what, value in itertools.islice(HOSTILE.items(), i % EVERY, None, EVERY):
            attack(replaced, f"{parameter}={what}", value, fell)
    assert not fell, "\n".join(fell)


def test_bench() -> None:
    with pytest.raises(belsim.Error, match="workers = True"):
        belsim.bench(workers=True)
    plan = {"codes": ["unary"], "levels": [8], "r": "0.5", "sigma": "1", "methods": ["exact", "mc"], "samples": 100}
    times = belsim.bench(plan)
    assert times["method"].unique().tolist() == ["exact", "mc"] and (times["seconds"] > 0).all()


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return {
        "fit": belsim.fit("johnson", Z, Y, levels=16, fit_decoder=True),
        "heatmap": belsim.heatmap("unary", "johnson", levels=8, r=(0.1, 0.4, 2), sigma=(1, 2, 2)),
        "verification": belsim.verify("unary", levels=4, samples=2),
    }


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_methods(results: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    fell: list[str] = []
    fit = results["fit"]
    calls: dict[str, Call] = {
        "fit.decoder.decode": fit.decoder.decode,
        "fit.decoder.decode, kind": lambda v: fit.decoder.decode(Z, kind=v),
        "fit.decoder.predict_interval": fit.decoder.predict_interval,
        "fit.decoder.predict_interval, confidence": lambda v: fit.decoder.predict_interval(Z, v),
        "fit.decoder.save": fit.decoder.save,
        "fit.plot, bits": lambda v: fit.plot(bits=v),
        "fit.report": fit.report,
    }
    for name, of in results.items():
        calls[f"{name}.plot"] = of.plot
        calls[f"{name}.save"] = of.save
        calls[f"{name}.save, dpi"] = lambda v, of=of: of.save("picture.png", dpi=v)
    for name, call in calls.items():
        for what, value in HOSTILE.items():
            if "dpi" in name and what in ("None", "1-d"):
                continue
            attack(call, f"{name}({what})", value, fell)
            plt.close("all")
    assert not fell, "\n".join(fell)
    assert sorted(p.name for p in Path().iterdir() if p.name != "picture.png") == []
