"""Codes as matrices; encoding and decoding in NumPy."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from belsim._call import (
    Error,
    Inputs,
    Short,
    answered,
    array,
    choice,
    count,
    flags,
    listed,
    number,
    pair,
    path_of,
    refusing,
    results,
    rows,
    run,
    several,
    switch,
    warn,
    wide,
    write,
)

DecoderName = Literal["auto", "bel-u", "bel-j", "gen", "gen-ex"]
Reads = Literal["auto", "bits", "logits"]
Kind = Literal["auto", "logits", "probabilities", "bits"]
Outside = Literal["refuse", "clip"]
Output = Literal["mean", "median", "mode", "quantiles", "full"]

QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The quantiles of ``predict``."""

LEAST = 1e-12
"""The probability of what outputs say is impossible, as belsim has it."""

CERTAIN = float(np.log((1 - LEAST) / LEAST))
"""The logit of probability 1, as belsim has it."""

COARSE = 1e-6
"""In a correlation: from there on gen-ex computes without roundings."""

FEW = 10
"""Rows: so many that all add up to 1 by chance are none. The command has the same."""

SUM = 1e-2
"""How far the probabilities of a softmax add up from 1 in float16. The command has the same."""

ROUNDING = 2.0**-10
"""How far probabilities lie outside of 0 to 1 where they were added up in float16."""


def codes(levels: int = 256, *, circular: bool = False) -> pd.DataFrame:
    """The codes that belsim knows, with their properties at a number of levels L; with ``circular`` level 0 is beside level L − 1.

    One row for each code: ``code, levels, bits, min_distance, min_column_distance, distinct_columns, transitions_per_bit,
    max_transitions, distance_label_correlation, constant_columns, decoder, description``.

    Source: Section 3 of Shah, Xue and Aamodt, "Label Encoding for Regression Networks", ICLR 2022.

    >>> import belsim
    >>> belsim.codes(16).set_index("code").loc["gray", "bits"].item()
    4
    """
    with Inputs() as inputs:
        return results(
            ["codes", *flags(levels=levels, circular=circular)], inputs, lambda result: rows("codes")({"codes": result["codes"]})
        )


def code(name: str, levels: int | None = None) -> NDArray[np.int32]:
    """The matrix of a named code, or of a file: int32 of shape (L, M), a row for each level and a column for each bit.

    ``name`` is one of ``belsim.codes()``, or a path to a .csv or .npy file. ``levels`` is L (256 for a name without it).
    Row ``n`` has the bits of level ``n``, from 0.

    Source: Section 3 of Shah, Xue and Aamodt, "Label Encoding for Regression Networks", ICLR 2022.

    >>> import belsim
    >>> belsim.code("gray", 4).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0]]
    """
    with Inputs() as inputs:
        file = inputs.path("code.npy")
        run(["codes", f"--output={file}", *flags(levels=levels), "--", path_of(name, "name", "the name of a code")], inputs)
        matrix: NDArray[np.int32] = answered(lambda: np.load(file).astype(np.int32))
        return matrix


def matrix(code_or_name: str | ArrayLike, levels: int | None = None) -> NDArray[Any]:
    """A code as a matrix: int32 for bits, float64 for real numbers. Checks the shape, and that rows differ."""
    if isinstance(code_or_name, (str, os.PathLike)):
        return code(path_of(code_or_name, "code"), levels)
    c = unsigned(array(code_or_name, "code"), "code")
    if c.ndim != 2 or c.shape[0] < 2 or c.shape[1] < 1:
        raise Error(f"code of shape {c.shape}: want (L, M), a row for each level and a column for each bit")
    if levels is not None and count(levels, "levels") != c.shape[0]:
        raise Error(f"code of {c.shape[0]} rows, but {levels} levels were asked for")
    if not np.isfinite(c).all():
        raise Error("code: want finite numbers")
    c = c.astype(np.int32 if ((c == 0) | (c == 1)).all() else np.float64)
    _, first, word = np.unique(c, axis=0, return_index=True, return_inverse=True)
    first = first[word.ravel()]  # row with the word of each row
    row = int(np.argmax(first < np.arange(len(c))))
    if first[row] < row:
        raise Error(f"code: rows {first[row]} and {row} are the same code word")
    return c


def targets_of(c: NDArray[Any]) -> NDArray[np.int32]:
    """The targets of the classifiers: the bits of a code, also of one of real numbers."""
    if c.dtype == np.int32:
        return c
    middle = c.min(axis=0) / 2 + c.max(axis=0) / 2
    bits: NDArray[np.int32] = (c > middle).astype(np.int32)
    return bits


def _whole(level: ArrayLike, levels: int) -> NDArray[np.int64]:
    n = wide(level, "level")
    if not (n == np.floor(n)).all():
        raise Error("level: want whole numbers; belsim.quantize makes levels of real labels")
    if n.size and (n.min() < 0 or n.max() >= levels):
        wrong = n.min() if n.min() < 0 else n.max()
        raise Error(f"level {wrong:g}: want 0 to {levels - 1}")
    return n.astype(np.int64)


def encode(level: ArrayLike, code: str | ArrayLike, *, levels: int | None = None) -> NDArray[np.int32]:
    """The bits of levels: int32 of shape (..., M) for levels, from 0 to L − 1, of shape (...).

    ``code`` is an L × M matrix, or a name with its number of ``levels``. For a code of real numbers the bits are
    the targets of its classifiers.

    Source: Section 3 of Shah, Xue and Aamodt, "Label Encoding for Regression Networks", ICLR 2022.

    >>> import belsim
    >>> belsim.encode([0, 3], "unary", levels=4).tolist()
    [[0, 0, 0], [1, 1, 1]]
    """
    c = matrix(code, levels)
    bits: NDArray[np.int32] = targets_of(c)[_whole(level, len(c))]
    return bits


EVEN = 1e-6
"""How far values that count as even lie from even ones, as a share of their range: what float32 rounds by. The command has the same."""


def values_of(range: ArrayLike, levels: int) -> NDArray[np.float64] | None:  # noqa: A002
    """The label of each level, where levels are not even."""
    v = several(range)
    if v is None:
        return None
    if v.size != levels:
        raise Error(f"range of {v.size} labels: want {levels}, one for each level, or (a, b)")
    even = v[0] + np.arange(levels) * ((v[-1] - v[0]) / (levels - 1))
    return v if (np.abs(v - even) > EVEN * (v[-1] - v[0])).any() else None


def within(labels: ArrayLike, range: ArrayLike, outside: Outside, name: str) -> NDArray[np.float64]:  # noqa: A002
    """Real labels in a range, of any shape; those outside are refused, or get the end that is nearest. The label of each level clips.

    Labels that lie outside by the rounding of a float32, or of their own float16, are at the end. ``name`` is the labels' in messages.
    """
    given = array(labels, name)
    y = given.astype(np.float64)
    lo, hi = pair(range)
    choice(outside, Outside, "outside")
    outside = outside if several(range) is None else "clip"
    finite(y, name)
    rounding = np.finfo(given.dtype).eps if given.dtype == np.float16 else 1e-6
    slack = float(rounding) * max(hi - lo, abs(lo), abs(hi))
    wrong = (y < lo - slack) | (y > hi + slack)
    if outside == "refuse" and wrong.any():
        share = f"{wrong.sum()} of {wrong.size} {name} (first: index {_index(np.argwhere(wrong)[0])})"
        raise Error(f"{share} are outside {lo:g} to {hi:g}; clip them, or give outside='clip'")
    inside: NDArray[np.float64] = np.clip(y, lo, hi)
    return inside


def finite(y: NDArray[np.float64], name: str) -> None:
    """Refuses NaN and infinite numbers, and says how many there are."""
    wrong = ~np.isfinite(y)
    if wrong.any():
        first = np.argwhere(wrong)[0]
        share = f"{wrong.sum()} of {wrong.size} are no finite numbers (first: {y[tuple(first)]} at index {_index(first)})"
        raise Error(f"{name}: {share}; want finite numbers, leave the others out")


def _index(place: NDArray[Any]) -> str:
    return ", ".join(str(i) for i in place)


SHRUNK = 2.0**-17
"""A power of two by which the products of labels and levels do not overflow."""


def quantize(
    labels: ArrayLike,
    range: ArrayLike,  # noqa: A002
    levels: int,
    *,
    outside: Outside = "refuse",
    circular: bool = False,
) -> NDArray[np.int64]:
    """The nearest levels, from 0 to L − 1, of real labels: ``range[0]`` is level 0, and ``range[1]`` is level L − 1.

    With ``circular``, ``range[1]`` is level 0 again: levels are (b − a)/L apart, and labels outside go round.

    Labels outside the range are refused, as ``fit`` does; ``outside="clip"`` gives them the level at its end. ``range`` may have the
    label of each level instead, L numbers that ascend; the end levels clip then.

    Source: Section 3 of Shah, Xue and Aamodt, "Label Encoding for Regression Networks", ICLR 2022.

    >>> import belsim
    >>> belsim.quantize([2.5, 3.2, 4.0], (2.5, 4.0), 4).tolist()
    [0, 1, 3]
    """
    levels = count(levels, "levels")
    if switch(circular, "circular"):
        lo, hi = ring(range)
        y = array(labels, "labels").astype(np.float64)
        finite(y, "labels")
        return np.floor((y - lo) * SHRUNK * levels / ((hi - lo) * SHRUNK) + 0.5).astype(np.int64) % levels
    y = within(labels, range, outside, "labels")
    lo, hi = pair(range)
    values = values_of(range, levels)
    if values is not None:
        return np.searchsorted((values[1:] + values[:-1]) / 2, y, "right").astype(np.int64)
    exact = (y - lo) * SHRUNK * (levels - 1) / ((hi - lo) * SHRUNK)
    return np.clip(np.floor(exact + 0.5), 0, levels - 1).astype(np.int64)


def ring(range: ArrayLike) -> tuple[float, float]:  # noqa: A002
    """The ends of a range, which are one point of a circle."""
    if several(range) is not None:
        raise Error("range: levels on a circle are even: want (a, b), whose ends are one point, such as (0, 360)")
    return pair(range)


def dequantize(level: ArrayLike, range: ArrayLike, levels: int, *, circular: bool = False) -> NDArray[np.float64]:  # noqa: A002
    """The real labels of levels from 0, which may lie between two levels: the inverse of ``quantize``. NaN is refused.

    With ``circular``, ``range[1]`` is level 0 again, and labels are from ``range[0]`` to below it.

    Source: Section 3 of Shah, Xue and Aamodt, "Label Encoding for Regression Networks", ICLR 2022.

    >>> import belsim
    >>> belsim.dequantize([0, 1.5, 3], (2.5, 4.0), 4).tolist()
    [2.5, 3.25, 4.0]
    """
    levels = count(levels, "levels")
    n = wide(level, "level")
    finite(n, "level")
    if switch(circular, "circular"):
        lo, hi = ring(range)
        return np.minimum(lo + n % levels * ((hi - lo) / levels), np.nextafter(hi, lo))
    lo, hi = pair(range)
    values = values_of(range, levels)
    if values is not None:
        between: NDArray[np.float64] = np.interp(n, np.arange(levels), values)
        return between
    with np.errstate(over="ignore"):
        return lo + n * SHRUNK * (hi - lo) / (levels - 1) / SHRUNK


def fitting(c: NDArray[Any], name: str = "") -> DecoderName:
    """The decoder that ``auto`` takes for a code on a line: bel-u for unary codes, bel-j for Johnson's, else gen."""
    if c.dtype != np.int32:
        return "gen"
    unary, johnson = is_unary(c), _is_johnson(c)
    if johnson and (name.startswith("johnson") or not unary):
        return "bel-j"
    return "bel-u" if unary else "gen"


def is_unary(c: NDArray[Any]) -> bool:
    """Whether row n has ones in its first n columns alone."""
    n, k = np.indices(c.shape)
    return c.shape[1] >= c.shape[0] - 1 and bool((c == (k < n)).all())


def _is_johnson(c: NDArray[Any]) -> bool:
    m = c.shape[1]
    v = np.arange(c.shape[0])[:, None] + (1 if c[0].any() else 0)
    if v.max() > 2 * m:
        return False
    k = np.arange(m)[None]
    return bool((c == ((k >= m - v) & (k < 2 * m - v))).all())


def unsigned(z: NDArray[Any], name: str = "outputs") -> NDArray[Any]:
    """Numbers; refuses ±1 that a type without a sign made 1 and its largest number."""
    if z.dtype.kind == "u" and z.size and (z == np.iinfo(z.dtype).max).any() and ((z == 1) | (z == np.iinfo(z.dtype).max)).all():
        most = np.iinfo(z.dtype).max
        raise Error(f"{name}: all are 1 or {most}, which is −1 in {z.dtype}; want a type with a sign, such as by astype(float)")
    return z


def softmaxed(z: NDArray[Any], kind: str) -> str:
    """What is wrong with outputs of bits, if they are a softmax over the bits; else nothing. ``fit`` says the same."""
    rows = z.reshape(-1, z.shape[-1]).astype(np.float64)
    if rows.shape[1] < 3 or len(rows) < FEW or (kind == "logits" and (rows > 0).any()):
        return ""
    sums = (np.exp(rows) if kind == "logits" else rows).sum(axis=1)
    if not (np.abs(sums - 1) <= SUM).all():
        return ""
    what = "exponentials" if kind == "logits" else "probabilities"
    return (
        f"outputs: the {what} of every row add up to 1, as those of a softmax over the columns do: want the logits or the sigmoid "
        "of each bit"
    )


def one_hot(c: NDArray[Any]) -> bool:
    """Whether each level has a bit of its own: outputs may be a softmax then."""
    return c.dtype == np.int32 and c.shape[0] == c.shape[1] and bool((c.sum(axis=0) == 1).all() and (c.sum(axis=1) == 1).all())


GUESSED = "outputs: read as probabilities, because all are from 0 to 1; say so if they are logits"


def _like(z: NDArray[Any]) -> tuple[bool, bool, bool]:
    """Whether outputs are decisions alone, whether they may be probabilities, and whether they are taken for some."""
    hard = bool(((z == 0) | (z == 1)).all() or ((z == -1) | (z == 1)).all())
    probable = bool(((z >= -ROUNDING) & (z <= 1 + ROUNDING)).all())
    return hard, probable, probable and not hard and bool(z.min() >= -ROUNDING * z.max())  # and no logits that are small


def _softmax(z: NDArray[Any], kind: Kind, c: NDArray[Any], *, named: bool) -> tuple[NDArray[Any], Kind]:
    """Outputs and their kind: log p for probabilities p of a one-hot code that are a softmax.

    They are where half of the rows add up to 1, or it is ``named``, and else the sigmoids of bits. The command has the same rule.
    """
    choice(kind, Kind, "kind")
    _, probable, probably = _like(z)
    if not (one_hot(c) and z.size and (probable if kind == "probabilities" else kind == "auto" and probably)):
        return z, kind
    rows = z.reshape(-1, z.shape[-1]).astype(np.float64)
    sums, none = rows.sum(axis=1), rows.max(axis=1) <= 0
    off = np.abs(sums - 1) > SUM
    if not named and 2 * off.sum() > off.size:
        return z, kind
    if none.any():
        raise Error(f"outputs: row {int(np.argmax(none))} is 0 for all levels; want probabilities that add up to 1")
    if off.any():
        first = int(np.argmax(off))
        share = f"{off.sum()} of {off.size} rows of probabilities do not add up to 1, such as row {first} with {sums[first]:.3g}"
        warn(f"outputs: {share}; each is divided by its sum")
    if kind == "auto":
        warn(GUESSED)
    return np.log(np.clip(rows, LEAST, 1)).reshape(z.shape), "logits"


def _logits(z: NDArray[Any], kind: str, c: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Outputs as numbers whose sign is the decision, and whether they are decisions alone: by the rule of ``fit``."""
    if not np.isfinite(z).all():
        raise Error("outputs: want finite numbers")
    hard, probable, probably = _like(z)
    if kind == "bits" and not hard:
        raise Error("outputs: want bits, all of 0 and 1 or all of −1 and 1")
    if kind == "bits" or (kind == "auto" and hard):
        return np.where(z > 0, np.int8(1), np.int8(-1)), True
    z = z.astype(np.float64)
    if kind == "probabilities" and not probable:
        raise Error("outputs: want probabilities from 0 to 1")
    guessed = kind == "auto"
    kind = kind if not guessed else "probabilities" if probably else "logits"
    wrong = "" if one_hot(c) else softmaxed(z, kind)
    if wrong:
        raise Error(wrong)
    if guessed and probably:
        warn(GUESSED)
    if kind == "probabilities":
        z = np.clip(z, 0, 1)
        with np.errstate(divide="ignore"):
            return np.clip(np.log(z) - np.log1p(-z), -CERTAIN, CERTAIN), False
    largest = np.abs(z).max(initial=0)
    if largest > 2.0**480 or 0 < largest < 2.0**-480:
        raise Error(f"outputs: want logits whose largest is from {2.0**-480:.1g} to {2.0**480:.1g}; it is {largest:.1g}")
    return z, False


NO_SUMMARY = "output_type: of levels on a circle want labels, intervals or probabilities; none is the first, and none the median"


def summary(p: Any, values: Any, output_type: Output, quantiles: Sequence[float] = QUANTILES) -> Any:
    """What probabilities p of levels, (..., L), whose labels are ``values``, (L,), say of labels. Arrays are NumPy's or torch's.

    A quantile q is the smallest label up to which the probabilities add up to q; ``median`` is that of ½.
    """
    choice(output_type, Output, "output_type")
    wanted = [number(q, "quantiles") for q in listed(quantiles, "quantiles", "numbers between 0 and 1")]
    for q in wanted:
        if q >= 1:
            raise Error(f"quantiles: {q} is none; want numbers between 0 and 1")
    if output_type == "mean":
        return p @ values
    nothing = (p - p).sum(-1)  # 0, or NaN where p is
    if output_type == "mode":
        return values[p.argmax(-1)] + nothing
    upto = p[..., :-1].cumsum(-1)
    found = [values[(upto < q - 1e-9 * q).sum(-1)] + nothing for q in ((0.5,) if output_type == "median" else wanted)]
    if output_type == "median":
        return found[0]
    if output_type == "quantiles":
        return found
    all_: tuple[Output, ...] = ("mean", "median", "mode")
    return {**{kind: summary(p, values, kind) for kind in all_}, "quantiles": found, "probabilities": p, "values": values}


def _written(inputs: Inputs, z: NDArray[Any], kind: Kind, columns: int, **options: object) -> NDArray[np.float64]:
    """What the command ``decode`` writes for outputs, (..., M): (..., columns), or (...) for none."""
    choice(kind, Kind, "kind")
    read, out = inputs.array(z.reshape(-1, z.shape[-1]), "outputs"), inputs.path("out.npy")
    run(["decode", *flags(outputs=read if kind == "auto" else f"{kind}:{read}", output=str(out), **options)], inputs)
    found: NDArray[np.float64] = answered(lambda: np.load(out).reshape(z.shape[:-1] + (columns,) * (columns > 0)))
    return found


def probabilities(z: NDArray[Any], c: NDArray[Any], decoder: str = "auto", kind: Kind = "auto",
                  temperature: float = 1.0) -> NDArray[np.float64]:  # fmt: skip
    """The probabilities of the levels, (..., L), of outputs, (..., M), of a code."""
    with Inputs() as inputs:
        name, tau = inputs.code(c, "code", file=True), None if temperature == 1 else temperature
        return _written(inputs, z, kind, len(c), decoder=f"probabilities:{decoder}", code=name, temperature=tau)


class Decoder(metaclass=Short):
    """A decoder that was fitted to the outputs of a network: ``belsim.fit(..., fit_decoder=True).decoder``.

    ``about`` has what it is: ``kind, rule, reads, code, levels, bits, samples, error, stderr, unit``. ``save`` writes the file that
    ``belsim decode`` reads, and ``Decoder.load`` reads it again.

    Source: the intervals are those of cross-conformal prediction (Vovk, Annals of Mathematics and Artificial Intelligence 74, 2015).

    >>> import belsim, numpy as np
    >>> level = np.arange(2000) % 16
    >>> seen = np.clip(level + np.random.default_rng(1).integers(-1, 2, 2000), 0, 15)
    >>> logits = 4.0 * belsim.code("johnson", 16)[seen] - 2
    >>> decoder = belsim.fit("johnson", logits, level, levels=16, fit_decoder=True).decoder
    >>> float(np.abs(decoder.decode(logits) - level).mean().round(2))
    0.63
    >>> lower, upper = decoder.predict_interval(logits, confidence=0.9).T
    >>> bool(0.85 < ((lower <= level) & (level <= upper)).mean() < 1)
    True
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        with refusing("no fitted decoder"), np.load(io.BytesIO(content)) as file:
            self.about: dict[str, Any] = json.loads(str(file["about"][0]))
            for name in ("bits", "code", "kind", "levels", "reads", "rule", "unit"):
                self.about[name]

    def __repr__(self) -> str:
        of = self.about
        return f"<Decoder of {of['code']}, {of['levels']} levels: {of['kind']}, {of['rule']}, reads {of['reads']}>"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the file: ``weights`` (L, M), ``offsets`` and ``values`` (L,), and what they are.

        ``values`` without a range are levels from 0 here, and from 1 in the file.
        """
        with np.load(io.BytesIO(self._content)) as file:
            arrays = dict(file)
        if self.about["unit"] == "levels":
            with refusing("no fitted decoder"):
                arrays["values"] = arrays["values"] - 1
        return arrays

    def decode(self, outputs: ArrayLike, *, kind: Kind = "auto") -> NDArray[np.float64]:
        """The labels, in the units of the ``range`` of ``fit``, or levels from 0: outputs (..., M) to labels (...)."""
        return self._columns(outputs, kind)

    __call__ = decode

    def predict_interval(self, outputs: ArrayLike, confidence: float = 0.9, *, kind: Kind = "auto") -> NDArray[np.float64]:
        """The intervals that hold the labels with a confidence level: outputs (..., M) to (..., 2), lower and upper.

        On a circle they pass the seam, with an end outside the range: of a circle of length C, they hold a label y where
        ``(y - lower) % C <= upper - lower``.
        They are calibrated (cross-conformal prediction) with the samples of ``fit``, and hold what they promise over all samples that
        are like those, not for each label. A shift of the data breaks this, and so do targets that the network was trained on.
        """
        return self._columns(outputs, kind, number(confidence, "confidence"))[..., 1:]

    def probabilities(self, outputs: ArrayLike, *, kind: Kind = "auto") -> NDArray[np.float64]:
        """The probabilities of the levels: outputs (..., M) to (..., L). ``arrays()["values"]`` are the labels of the levels.

        They are the softmax of scores · ``about["power"]``, which ``fit`` fits by the log score of samples that did not fit the
        decoder: the central 90 % held 88 to 95 % of new targets of 14 networks (46 to 94 % without).
        """
        return self._columns(outputs, kind, columns=self.about["levels"])

    def predict(
        self, outputs: ArrayLike, output_type: Output | None = None, quantiles: Sequence[float] = QUANTILES, *, kind: Kind = "auto"
    ) -> Any:
        """The labels of ``decode``; or what ``output_type`` says of the probabilities of the levels, as ``belsim.decode`` does.

        Their mean and median need not be the label of ``decode``, which was chosen by its error.
        """
        if output_type is None:
            return self.decode(outputs, kind=kind)
        if self.about.get("circular"):
            raise Error(NO_SUMMARY)
        return summary(self.probabilities(outputs, kind=kind), self.arrays()["values"], output_type, quantiles)

    def _columns(self, outputs: ArrayLike, kind: Kind, confidence: float | None = None, columns: int = 0) -> NDArray[np.float64]:
        """What the command writes: labels, (...), or labels with intervals, (..., 3), or the probabilities of the levels."""
        z = unsigned(array(outputs, "outputs"))
        if z.ndim < 1 or z.shape[-1] != self.about["bits"]:
            raise Error(f"outputs of shape {z.shape}: want (..., {self.about['bits']}), the bits of {self.about['code']}")
        with Inputs() as inputs:
            decoder = inputs.path("decoder.npz")
            self.save(decoder)
            inputs.names[str(decoder)] = "the decoder"
            asked = f"{'probabilities:' if columns else ''}{decoder}"
            found = _written(inputs, z, kind, 3 if confidence is not None else columns, decoder=asked, confidence=confidence)
        return found if columns else found - (self.about["unit"] == "levels")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes an .npz file, and returns its path."""
        file = Path(path_of(path, "path"))
        if file.suffix != ".npz":
            raise Error(f"{file}: want a name that ends in .npz")
        write(str(file), lambda out: out.write(self._content))
        return file

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Decoder:
        """Reads what ``save``, or ``belsim fit --fit-decoder -o FILE.npz``, wrote."""
        name = path_of(path, "path")
        with refusing(f"{name}: no fitted decoder"):
            content = Path(name).read_bytes()
        try:
            return cls(content)
        except Error as error:
            raise Error(f"{name}: {error}") from error


def decode(
    outputs: ArrayLike,
    code: str | ArrayLike | None = None,
    decoder: str | Decoder = "auto",
    *,
    levels: int | None = None,
    kind: Kind = "auto",
    reads: Reads = "auto",
    temperature: float = 1.0,
    range: ArrayLike | None = None,  # noqa: A002
    circular: bool = False,
    output_type: Output | None = None,
    quantiles: Sequence[float] = QUANTILES,
) -> Any:
    """The levels, from 0, of the outputs of M classifiers; with ``range``, (a, b) or the label of each level, their labels.

    With ``circular`` level 0 is beside level L − 1: ``gen-ex`` is the direction of the mean, and the ends of ``range`` are one point.

    ``outputs`` has the shape (..., M); the result has the shape (...): integers for ``bel-u``, ``bel-j`` and ``gen``, float64
    for ``gen-ex``, whose expected level may lie between two levels. ``bel-u`` and ``bel-j`` may return levels outside 0 to L − 1
    for words that no level has.

    ``code`` is an L × M matrix, or a name with its number of ``levels``. ``decoder`` is ``auto`` (``bel-u`` for unary, ``bel-j`` for
    Johnson codes; ``gen`` for others, and with ``circular``), ``bel-u``, ``bel-j``, ``gen`` or ``gen-ex``; or a fitted ``Decoder``,
    which knows its code, and gives labels where it was fitted with a ``range``.

    ``kind`` says what the outputs are. ``auto`` finds out as ``fit`` does, whatever their type: bits where all are 0 or 1, or all
    ±1; probabilities where all are from 0 to 1, with a warning; else logits. Probabilities of a one-hot code are those of the
    levels, a softmax, where half of the rows add up to 1; ``code="softmax"`` says that they are. ``reads`` says what the decoder
    reads: ``auto`` gives logits to ``gen`` and ``gen-ex`` where there are any, as the command does, and bits to the others.
    ``temperature`` multiplies the logits of ``gen-ex``.

    ``output_type`` gives labels by the probabilities of the levels instead: their ``mean``, ``median`` or ``mode``, a list of the
    ``quantiles``, or ``full``: a dictionary of these, the ``probabilities``, (..., L), and the ``values`` of the levels. ``bel-u``, the
    decoder for unary, takes the sigmoids of the bits for P(label > level), which isotonic regression makes descend; ``gen-ex``, the one
    for other codes, has the softmax of the correlations with the code words.

    Source: Eq. 1 (bel-u), 14 (bel-j), 5 (gen) and 6 (gen-ex) of Shah, Xue and Aamodt, ICLR 2022.

    >>> import belsim
    >>> belsim.decode([[2.0, 1.5, -3.0]], "unary", levels=4).tolist()
    [2]
    """
    if isinstance(decoder, Decoder):
        if code is not None or levels is not None or range is not None or circular:
            raise Error("code, levels, range, circular: a fitted decoder knows its own")
        return decoder.predict(outputs, output_type, quantiles, kind=kind)
    if code is None:
        raise Error("code is missing: the code of the outputs, or a fitted decoder")
    choice(decoder, DecoderName, "decoder")
    choice(reads, Reads, "reads")
    temperature = number(temperature, "temperature")
    z = unsigned(array(outputs, "outputs"))
    z = z.astype(np.float64) if z.dtype.kind == "f" else z
    named = isinstance(code, str) and code in ("softmax", "hl-gauss")
    c = matrix("onehot" if named else code, z.shape[-1] if named and levels is None and z.ndim else levels)
    if switch(circular, "circular") and range is not None:
        ring(range)
    values = None if range is None or circular else values_of(range, len(c))
    name = code if isinstance(code, str) else ""
    if decoder == "auto" and output_type is None:
        decoder = "gen" if circular else fitting(c, name)
    if z.ndim < 1 or z.shape[-1] != c.shape[1]:
        raise Error(f"outputs of shape {z.shape}: want (..., {c.shape[1]}), the bits of {name or 'the code'} with {c.shape[0]} levels")
    if output_type is not None and circular:
        raise Error(NO_SUMMARY)
    z, kind = _softmax(z, kind, c, named=named)
    if output_type is not None:
        labels = np.arange(len(c), dtype=np.float64) if range is None else dequantize(np.arange(len(c)), range, len(c))
        return summary(probabilities(z, c, decoder, kind, temperature), labels, output_type, quantiles)
    z, hard = _logits(z, kind, c)
    if reads == "auto":
        reads = "bits" if decoder in ("bel-u", "bel-j") else "logits"
    if reads == "bits":
        z, hard = np.where(z > 0, np.int8(1), np.int8(-1)), True
    elif decoder in ("bel-u", "bel-j"):
        raise Error(f"{decoder} reads bits; gen and gen-ex read logits")
    rows = z.reshape(-1, c.shape[1])
    if decoder == "bel-u":
        if c.dtype != np.int32 or not is_unary(c):
            raise Error("bel-u reads the unary code; use gen")
        found: NDArray[Any] = (rows > 0).sum(axis=1)
    elif decoder == "bel-j":
        if c.dtype != np.int32 or not _is_johnson(c):
            raise Error("bel-j reads johnson and johnson-nonzero; use gen")
        found = _bel_j(rows > 0, zero_word=not c[0].any())
    elif decoder == "gen":
        found = _gen(rows, c, hard)
    else:
        found = _gen_ex(rows, c, temperature, values, circular)
    found = found.reshape(z.shape[:-1])
    if circular:
        found = found % len(c)
        return found if range is None else dequantize(found, range, len(c), circular=True)
    if range is None or (values is not None and decoder == "gen-ex"):
        return found
    return dequantize(found if values is None else np.clip(found, 0, len(c) - 1), range, len(c))


def _bel_j(b: NDArray[np.bool_], *, zero_word: bool) -> NDArray[np.int64]:
    """Eq. 14, from the first and the last one; levels from 0."""
    m = b.shape[1]
    first, last = b.argmax(axis=1) + 1, m - b[:, ::-1].argmax(axis=1)
    label = 2 * m + 1 - first - last + int(zero_word)
    return np.where(b.any(axis=1), label, 1 if zero_word else m) - 1


def _blocks(rows: NDArray[Any], levels: int) -> list[NDArray[Any]]:
    """Parts of the rows whose correlations with all levels take little memory."""
    return np.array_split(rows, max(1, -(-len(rows) * levels // (1 << 22))))


def _gen(z: NDArray[Any], c: NDArray[Any], hard: bool) -> NDArray[np.int64]:
    """Eq. 5: the level with the largest correlation, the lowest of several. Roundings decide nothing."""
    if hard and c.dtype == np.int32:
        # Correlations of ±1 with words of 0 and 1 are whole numbers below 2²⁴: float32 holds them.
        words = c.T.astype(np.float32)
        return np.concatenate([(part.astype(words.dtype) @ words).argmax(axis=1) for part in _blocks(z, len(c))])
    words = c.T.astype(np.float64)
    out = []
    for part in _blocks(z.astype(np.float64), len(c)):
        sums = part @ words
        near = 2 * _roundings(part, words)  # for two sums are compared
        close = sums >= (sums.max(axis=1) - near)[:, None]
        level = sums.argmax(axis=1)
        for i in np.flatnonzero(close.sum(axis=1) > 1):
            if c.dtype != np.int32 or not _unrounded(part[i]):
                rows = np.flatnonzero(close[i])
                exact = _exact(part[i], c, rows)
                level[i] = rows[exact.index(max(exact))]
        out.append(level)
    return np.concatenate(out)


def _roundings(z: NDArray[np.float64], words: NDArray[Any]) -> NDArray[np.float64]:
    """How far sums of the rows of z may be from z @ words, with a factor of two for what is of second order.

    In any order of the sum, each of 2M roundings is at most 2⁻⁵³ of the largest partial sum, or of the smallest number.
    """
    out: NDArray[np.float64] = 4 * (len(words) + 1) * (2.0**-53 * (np.abs(z) @ np.abs(words)).max(axis=1) + 5e-324)
    return out


def _unrounded(z: NDArray[np.float64]) -> bool:
    """Whether all sums of some of the numbers are exact: multiples of one power of two, of 53 digits at most."""
    fraction, exponent = np.frexp(z[z != 0])
    digits = (fraction * 2.0**53).astype(np.int64)
    unit = np.min(np.frexp((digits & -digits).astype(np.float64))[1] + exponent, initial=1200) - 54
    return bool(np.abs(z).sum() < np.ldexp(1.0, min(unit + 53, 1023)))


def _exact(z: NDArray[np.float64], c: NDArray[Any], rows: NDArray[np.int64]) -> list[Fraction]:
    """The correlations with the words of some levels, without rounding."""
    numbers = [Fraction(float(v)) for v in z]
    return [sum((v * Fraction(float(w)) for v, w in zip(numbers, c[i], strict=True) if w), Fraction()) for i in rows]


def direction(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The direction of the mean vector of distributions, (..., L), up to a factor, over a circle of levels: from 0 to below L.

    It is 0 where the vector is zero, but for rounding.
    """
    levels = p.shape[-1]
    angle = 2 * np.pi * np.arange(levels) / levels
    x, y = p @ np.cos(angle), p @ np.sin(angle)
    found: NDArray[np.float64] = np.arctan2(y, x) * levels / (2 * np.pi) % levels
    found[(np.hypot(x, y) <= 1e-12 * p.sum(axis=-1)) | (found == levels)] = 0
    return found


def _gen_ex(
    z: NDArray[Any], c: NDArray[Any], temperature: float, values: NDArray[np.float64] | None, circular: bool
) -> NDArray[np.float64]:
    """Eq. 6: the expected level, or the expected value of it, under the softmax of correlations; on a circle its direction."""
    words, n = c.T.astype(np.float64), np.arange(len(c), dtype=np.float64) if values is None else values
    out = []
    for part in _blocks(z.astype(np.float64), len(c)):
        correlations = part @ words
        correlations -= correlations.max(axis=1, keepdims=True)
        for i in np.flatnonzero(_roundings(part, words) > COARSE):
            if c.dtype != np.int32 or not _unrounded(part[i]):
                exact = _exact(part[i], c, np.arange(len(c)))
                most, least = max(exact), Fraction(-(10**300))
                correlations[i] = [float(max(v - most, least)) for v in exact]
        with np.errstate(over="ignore"):  # −∞ is as good as a large number
            weights = np.exp(temperature * correlations)
        out.append(direction(weights) if circular else weights @ n / weights.sum(axis=1))
    return np.concatenate(out)
