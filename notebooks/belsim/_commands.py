"""The commands as functions, and what they return."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from belsim import _plots
from belsim._call import (
    MOST_LEVELS,
    Error,
    Inputs,
    Short,
    answered,
    array,
    call_of,
    choice,
    ends,
    flags,
    from_zero,
    joined,
    listed,
    number,
    path_of,
    positions,
    printable,
    prior_of,
    refusing,
    results,
    rows,
    run,
    several,
    shown,
    span,
    switch,
    table,
    wide,
)
from belsim._codes import Decoder, Kind, Outside, Reads, finite, unsigned, within

if TYPE_CHECKING:
    from belsim.torch import Head

Code = str | ArrayLike
Span = tuple[float, float, int] | tuple[float, float, int, str] | Sequence[float] | NDArray[Any]
T = TypeVar("T")


def _command(command: str, arguments: dict[str, Any], make: Callable[[dict[str, Any]], T], *, may_fail: bool = False) -> T:
    """Calls a command with the arguments of its function, which are flags of the same names.

    Codes stand last. What may be an array is a file, and ``reads`` are the command's ``outputs``.
    """
    own = {name: value for name, value in arguments.items() if value is not None}
    progress = own.pop("progress", None)
    with Inputs() as inputs:
        inputs.call = call_of(command, arguments)
        codes = own.pop("codes", ())
        named = [(f"codes[{i}]", c) for i, c in enumerate(listed(codes, "codes", "names and L × M matrices, such as ['unary', C]"))]
        named += [(name, own.pop(name)) for name in ("a", "b") if name in own]
        names = [inputs.code(c, name) for name, c in named]
        for name in ("code", "errors"):
            if name in own:
                own[name] = inputs.code(own[name], name)
        if "cost" in own and not isinstance(own["cost"], str):
            own["cost"] = inputs.array(own["cost"], "cost")
        if "model" in own:
            model = own["model"]
            own["model"] = inputs.text(model.json, "model", ".json") if isinstance(model, Fit) else path_of(model, "model")
        if "shared" in own and not isinstance(own["shared"], (int, float, np.integer, np.floating)):
            own["shared"] = path_of(own["shared"], "shared", "a number of levels, or the path of a histogram")
        if "prior" in own:
            own["levels"], own["prior"] = prior_of(inputs, own["prior"], own.get("levels"))
        if "reads" in own:
            choice(own["reads"], Reads, "reads")
        make_of = make
        if switch(own.pop("confusion", False), "confusion"):
            file = own["confusion"] = inputs.path("confusion.npy")
            make_of = lambda result: make(result | {"matrix": np.load(file)})  # noqa: E731
        told = flags(outputs=own.pop("reads", None), **own)
        return results([command, *told, "--", *names], inputs, make_of, progress=progress, may_fail=may_fail)


class _Results(metaclass=Short):
    """A result: every name of the JSON is an attribute."""

    results: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["results"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.results})

    def _repr_html_(self) -> str:
        """What Jupyter shows: the text, and the table."""
        name, frame = self._shown()
        text = "".join(f"<p>{escape(part.strip('<>'))}</p>" for part in re.split(r"(?<=[.>])\n", repr(self)))
        return text if frame is None else f"{text}<p>{name}</p>{frame.to_html(index=False, max_rows=20, float_format='{:.4g}'.format)}"

    def _shown(self) -> tuple[str, pd.DataFrame | None]:
        """The table that belongs to the text, with its name."""
        return "", None


def compare(
    codes: Sequence[Code] = (),
    *,
    levels: int | None = None,
    circular: bool = False,
    decoder: str | Sequence[str] | None = None,
    r: float | None = None,
    sigma: float | None = None,
    errors: ArrayLike | str | None = None,
    model: Fit | str | os.PathLike[str] | None = None,
    shared: float | str | os.PathLike[str] | None = None,
    prior: ArrayLike | None = None,
    reads: Reads | None = None,
    temperature: float | None = None,
    cost: str | ArrayLike | None = None,
    samples: int | None = None,
    exact: bool = False,
    seed: int | None = None,
    workers: int | None = None,
    backend: Literal["auto", "cpu", "cuda"] | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Codes by their expected error, the smallest first: bound, exact expectation and sampled mean.

    With ``circular`` level 0 is beside level L − 1, and errors are the shorter way round.

    ``codes`` are names and L × M matrices of 0 and 1; without any, all that belsim knows. The error model is one of: the
    Gaussian mixture with weight ``r`` and width ``sigma`` (in levels); ``errors``, an L × M table of error probabilities; ``model``,
    the mixture of what ``fit`` returned, or of the path of its JSON. ``shared`` is noise that all bits share: its standard deviation
    in levels, or the path of a histogram (CSV with columns offset, weight) or of the JSON of a fit. ``prior`` has the count of each
    level, of shape (L,). ``samples`` of each label are drawn; by default, as many as standard errors of 0.2 % need, within about
    half a second for each code.
    ``exact`` also computes the bounds and exact values that take more than about a second; one that would take more than minutes
    stays NaN. The ``decoder`` is ``"auto"`` by default: bel-u for unary, bel-j for Johnson codes, gen for all others and on a circle.

    ``cost`` is what an answer costs: ``"absolute"``, ``"squared"``, ``"zero-one"``, ``"beyond:θ"``, or an L × L matrix. Means are
    in its unit, ``attrs["unit"]``.

    Returns a row for each code (and decoder): ``levels, code, bits, transitions, decoder, reads, bound, exact, any_law_lo,
    any_law_hi, mean, stderr, rms, worst_level, worst_mean, worst_stderr, samples, capped, tie``, and ``invalid`` for codes that the
    error model gives a probability above 1. Errors are in levels without ``cost``; ``worst_level`` counts from 0; ``worst_stderr`` is
    0 where ``worst_mean`` is exact; the column ``samples`` counts those of all labels; a missing value is NaN.
    Matrices are called ``codes[i]``. ``attrs`` of the DataFrame has what holds for all rows, such as ``seed``.

    Source: Eq. 3 and 4 (error probabilities), 2 (bound of bel-u) and 26 (of bel-j) of Shah, Xue and Aamodt, ICLR 2022; the bound of gen
    is a union bound. theory/README.md has the exact values and the bounds under any law.

    >>> import belsim
    >>> belsim.compare(["unary", "johnson"], levels=16, r=0.4, sigma=1.5, samples=1000)[["code", "exact"]].round(3).values.tolist()
    [['unary', 0.301], ['johnson', 0.372]]
    """
    return _command("compare", locals(), rows("results"))


class Verification(_Results, _plots.Pictured):
    """The result of ``verify``.

    ``passed`` is True, False, or None where there was nothing to check; ``failures`` are sentences; ``labels`` is a DataFrame with a
    row for each level: ``level`` (from 0), ``bound, exact, any_law_lo, any_law_hi, mean, stderr, samples, detectable``; ``overall``
    has the same for all levels. ``confusion`` is an array of shape (L, L), where it was asked for: entry [n, m] is the probability of
    answer m to label n, exact or sampled as ``results["confusion"]`` says. Answers beyond the ends count there. Other names of the
    JSON are attributes.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        self.confusion: NDArray[np.float64] | None = result.pop("matrix", None)
        self.results = result
        self.passed: bool | None = result["pass"]
        self.failures: list[str] = result["failures"]
        self.labels: pd.DataFrame = table(result["labels"])
        self.overall: dict[str, Any] = result["overall"]

    def plot(self, ax: _plots.Axes | None = None) -> _plots.Axes:
        """The paper's Figure 10: bound, exact value and samples of every level. Returns the axes of matplotlib."""
        return _plots.verification(ax, self.labels)

    def _shown(self) -> tuple[str, pd.DataFrame | None]:
        return "labels", self.labels

    def __repr__(self) -> str:
        verdict = {True: "passed", False: "failed", None: "unchecked"}[self.passed]
        return f"<Verification of {self.results['code']} ({self.results['decoder']}): {verdict}>"


def verify(
    code: Code = "johnson-nonzero",
    *,
    levels: int | None = None,
    circular: bool = False,
    decoder: str | None = None,
    r: float | None = None,
    sigma: float | None = None,
    errors: ArrayLike | str | None = None,
    model: Fit | str | os.PathLike[str] | None = None,
    random: bool = False,
    shared: float | str | os.PathLike[str] | None = None,
    prior: ArrayLike | None = None,
    reads: Reads | None = None,
    temperature: float | None = None,
    cost: str | ArrayLike | None = None,
    samples: int | None = None,
    confusion: bool = False,
    seed: int | None = None,
    workers: int | None = None,
    backend: Literal["auto", "cpu", "cuda"] | None = None,
    progress: bool | None = None,
) -> Verification:
    """Checks bound, exact value and sampled mean of every level against each other.

    ``code`` is a name or an L × M matrix. ``random`` draws the error probabilities uniformly from 0 to 1; the other arguments are
    those of ``compare``. ``confusion`` asks for ``Verification.confusion``. A failed check raises nothing: see ``Verification.passed``.

    Source: Eq. 2 and 26 of Shah, Xue and Aamodt, ICLR 2022; the test is Bernstein's inequality, shared by the levels (Bonferroni).

    >>> import belsim
    >>> belsim.verify("unary", levels=4, samples=100).passed
    True
    """
    return _command("verify", locals(), Verification, may_fail=True)


class Heatmap(_Results, _plots.Pictured):
    """The result of ``heatmap``.

    ``cells`` is a DataFrame with a row for each cell: ``r, sigma``, and for each of ``methods``, such as
    ``exact``, ``exact_a, exact_b`` (the errors, in levels) and ``exact_increase_percent``, 100·(a − b)/b, NaN where one is not valid.
    ``increase["exact"]`` is the same as an array: a row for each σ and a column for each r, as the picture has them from the
    lower left.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        self.results = result
        self.methods: list[str] = result["methods"]
        of_method = set(self.methods)
        self.cells: pd.DataFrame = table(
            [
                {k: v for k, v in cell.items() if k not in of_method}
                | {f"{m}_{k}": v for m in self.methods for k, v in cell[m].items()}
                for cell in result["cells"]
            ]
        )
        shape = len(result["sigma"]), len(result["r"])
        self.increase: dict[str, NDArray[np.float64]] = {
            m: self.cells[f"{m}_increase_percent"].to_numpy().reshape(shape) for m in self.methods
        }

    def plot(self, ax: _plots.Axes | None = None, method: str | None = None) -> _plots.Axes:
        """The map by a method, the first by default, as the paper's Figure 3(c). Returns the axes of matplotlib.

        A line marks where both errors are equal.
        """
        of, chosen = self.results, self.methods[0] if method is None else method
        if chosen not in self.methods:
            raise Error(f"method {method!r}: this map has {', '.join(self.methods)}")
        what = f"how much larger the error\nof {of['a']['code']} is than the error\nof {of['b']['code']} (%), {chosen}"
        return _plots.heatmap(ax, of["r"], of["sigma"], self.increase[chosen], what)

    def __repr__(self) -> str:
        of = self.results
        a, b = of["a"], of["b"]
        better = [f"{(self.increase[m] > 0).sum()} of {np.isfinite(self.increase[m]).sum()} valid cells ({m})" for m in self.methods]
        return (
            f"<Heatmap of {a['code']} ({a['decoder']}) over {b['code']} ({b['decoder']}), {a['levels']} levels: "
            f"{b['code']} better in {', '.join(better)}>"
        )


def heatmap(
    a: Code | None = None,
    b: Code | None = None,
    *,
    levels: int | None = None,
    circular: bool = False,
    r: Span | None = None,
    sigma: Span | None = None,
    method: str | Sequence[str] | None = None,
    decoder: str | None = None,
    model: Fit | str | os.PathLike[str] | None = None,
    shared: float | str | os.PathLike[str] | None = None,
    prior: ArrayLike | None = None,
    reads: Reads | None = None,
    temperature: float | None = None,
    cost: str | ArrayLike | None = None,
    samples: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    backend: Literal["auto", "cpu", "cuda"] | None = None,
    progress: bool | None = None,
) -> Heatmap:
    """The increase of code ``a``'s error over code ``b``'s, in percent, over the plane of r and σ.

    ``a`` and ``b`` are names or L × M matrices; without them the map is the paper's Figure 3(c). ``r`` and ``sigma``
    are ranges: ``(lo, hi, count)``, or ``(lo, hi, count, "log")``, or lists of ascending numbers; the picture has cells of
    different sizes where they are not evenly spaced. ``method`` is ``exact``, ``bound`` or ``mc`` (samples), or several of them; by
    default the paper's bounds beside exact values, where both codes have these.
    The other arguments are those of ``compare``.

    Source: Figure 3(c) of Shah, Xue and Aamodt, ICLR 2022.

    >>> import belsim
    >>> belsim.heatmap("unary", "johnson", levels=16, r=(0.1, 0.4, 3), sigma=(1, 4, 2)).increase["exact"].shape
    (2, 3)
    """
    if (a is None) != (b is None):
        raise Error("a, b: want two codes, or none for the paper's")
    arguments = locals()
    arguments.update({name: span(arguments[name], name) for name in ("r", "sigma")})
    return _command("heatmap", arguments, Heatmap)


class Fit(_Results, _plots.Pictured):
    """The result of ``fit``. Every name of its JSON is an attribute; levels and bits count from 0.

    ``print(fit)`` shows ``verdict``, a few sentences. ``text`` is all that the command prints, whose levels and bits count
    from 1, and ``report("report.html")`` writes it as a page with pictures.
    ``json`` is the text that ``belsim compare --model`` reads from a file; the functions here take the Fit itself as ``model``.

    ``findings`` has what is wrong with the network or its reading, each with its ``name``, ``number`` and mend; ``direct_regression``
    the comparison with ``baseline``; ``error_quantiles`` and ``probabilities`` further numbers.

    ``each`` has the Fit of each output of a network of several outputs, and else the Fit itself.

    ``decoder`` and pictures read the arrays again that ``fit`` was given: do not change these in between.
    """

    def __init__(self, json_text: str, text: str, arguments: dict[str, Any], decoder: Decoder | None = None) -> None:
        self.json = json_text
        result = json.loads(json_text)
        seen = result.pop("outputs")  # of what kind they are, or the fit of each
        self.results = from_zero(result if isinstance(seen, list) else {**result, "kind": seen})
        self._text = text
        self._arguments = arguments
        self._decoder = decoder
        self.each = [self]
        if isinstance(seen, list):
            self.each = [Fit(json.dumps(of), of["verdict"], _of_output(arguments, k)) for k, of in enumerate(seen)]

    @property
    def text(self) -> str:
        """What the command prints."""
        return printable(self._text)

    @property
    def verdict(self) -> str:
        """A few sentences: how wrong the network is, and what to do next."""
        return printable(self._text.split("\n\n", 1)[0])

    def _one(self, name: str) -> None:
        """Refuses what only one output has."""
        if self.each[0] is not self:
            raise Error(f"each of several outputs has its own {name}: take fit.each[k].{name}, k from 0")

    @property
    def decoders(self) -> pd.DataFrame:
        """The observed errors of each decoder, in the unit of the targets."""
        self._one("decoders")
        return table(self.results["decoders"])

    def _again(self, **changed: Any) -> Fit:
        return _fit(**{**self._arguments, **changed})

    @property
    def decoder(self) -> Decoder:
        """A decoder that is fitted to the outputs: when it is first asked for, or by ``fit`` with ``fit_decoder=True``."""
        self._one("decoder")
        if self._decoder is None:
            self._decoder = self._again(fit_decoder=True).decoder
        return self._decoder

    def plot(self, ax: _plots.Axes | None = None, *, bits: Sequence[int] | None = None) -> _plots.Axes:
        """The error rates of some bits, from 0, over the levels: observed, and by the model that describes the network.

        Returns the axes of matplotlib. Without ``bits`` they are two that err; ``profiles`` has the numbers.
        """
        self._one("plot")
        of = self
        if bits is not None:
            of = self._again(bits=positions(bits, "bits", "bits, from 0", self.results["bits"]))
        name = "above level" if of.results["code"] == "direct" else "bit"
        return _plots.profiles(ax, of.results["profiles"], of.results["curve"], name)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page, an .html file that needs no other, with all tables and pictures."""
        file = path_of(path, "path")
        if not file.lower().endswith(".html"):
            raise Error(f"{file}: want a name that ends in .html")
        with Inputs() as inputs:
            inputs.call = f"{call_of('fit', self._arguments)}.report({file!r})"
            run([*_fit_arguments(inputs, **self._arguments), f"--output={file}"], inputs, progress=self._arguments["progress"])

    def _shown(self) -> tuple[str, pd.DataFrame | None]:
        if self.each[0] is not self:
            return "", None
        return "decoders", self.decoders[["decoder", "reads", "observed", "observed_stderr"]]

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        outputs = "" if self.each[0] is self else f"{len(self.each)} outputs, "
        parts = outputs + ", ".join(dict.fromkeys(f"{fit.results['code']} with {fit.results['levels']} levels" for fit in self.each))
        return f"<Fit of {parts}, {self.each[0].results['samples']} samples>\n{self}"


def fit(
    code: Code | list[str] | Head | list[Head],
    outputs: ArrayLike,
    targets: ArrayLike,
    *,
    range: ArrayLike | list[tuple[float, ...]] | None = None,  # noqa: A002
    outside: Outside = "refuse",
    circular: bool = False,
    levels: int | ArrayLike | None = None,
    kind: Kind = "auto",
    training: Literal["auto", "bce", "ce", "soft", "l1", "l2"] = "auto",
    fit_decoder: bool = False,
    temperature: float | None = None,
    baseline: float | ArrayLike | None = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> Fit:
    """Judges a trained network by its outputs.

    ``code`` is the code that the network was trained with, a name or an L × M matrix. ``outputs`` has the shape (N, M): the
    classifiers' logits, probabilities or bits for N test samples: ``kind`` says which, and ``auto`` finds out.
    ``targets`` has the shape (N,): levels from 0 to L − 1, or real labels with ``range``, whose ends are level 0 and level L − 1;
    labels outside are refused, or with ``outside="clip"`` taken for the nearest end. ``range`` may have the label of each level
    instead, L numbers that ascend: the end levels clip then, and errors are against the labels themselves. Arrays are NumPy's,
    torch's, or have ``__array__``; with ``circular`` the ends of ``range`` are one point, as angles have them: levels are (b − a)/L
    apart, labels outside go round, and errors are the shorter way; a list of batches is joined where their lengths say that it is one,
    and else refused. ``levels`` is L for a named code (default: the only number that needs M bits), or the labels as ``range``.
    ``code="softmax"`` and ``code="hl-gauss"`` are networks with an output for each level, logits or their distribution.
    ``code="corn"`` is a network of CORN, whose outputs are the conditional logits. ``code="direct"`` is one without a code: ``outputs``
    has its predictions, in the units of the targets, and ``levels`` is the number of levels in whose width errors are told.
    A ``belsim.torch.Head`` in the place of a code says code, ``levels``, ``range`` and ``training`` by itself.

    ``training`` says what the network was trained with; outputs do not show ``soft``, CE with soft targets, nor ``l1``
    and ``l2``, the mean absolute and the squared error of gen-ex. ``fit_decoder``
    fits ``Fit.decoder``. ``temperature`` is the τ of gen-ex. ``baseline`` has
    the predictions of direct regression for the same samples, in the units of the targets: ``print(fit)`` compares the network with
    them sample by sample, and ``fit.direct_regression`` has the numbers. A number is its mean error alone.

    A network of K outputs has ``outputs`` of shape (N, K, M) and ``targets`` of shape (N, K), as has
    ``baseline``; ``code`` and ``range`` may be lists of K. ``Fit.each`` has the Fit of each output then, with its
    decoder and pictures.

    Source: the mixture is Eq. 3 and 4 of Shah, Xue and Aamodt, ICLR 2022, with r and σ of largest likelihood.

    >>> import belsim, numpy as np
    >>> level = np.arange(2000) % 16
    >>> seen = np.clip(level + np.random.default_rng(1).integers(-1, 2, 2000), 0, 15)
    >>> logits = 4.0 * belsim.code("johnson", 16)[seen] - 2
    >>> belsim.fit("johnson", logits, level, levels=16).decoders["observed"].round(2).tolist()
    [0.63, 0.63, 0.63, 0.81]
    """
    return _fit(**_told(**_placed(_joined(locals()))))


def _joined(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``fit``, with one array for a list of batches."""
    z, y = arguments["outputs"], arguments["targets"]
    if isinstance(z, (list, tuple)):
        listing = isinstance(y, (list, tuple)) and any(getattr(of, "ndim", 0) for of in y)
        z = joined(z, "outputs", None if listing else len(np.atleast_1d(array(y, "targets"))))
    n = len(np.atleast_1d(array(z, "outputs")))
    y = joined(y, "targets", n)
    baseline = joined(arguments["baseline"], "baseline", n)
    return {**arguments, "outputs": z, "targets": y, "baseline": baseline}


def _placed(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``fit``, where ``levels`` has the label of each level in the place of their number."""
    levels = arguments["levels"]
    if not isinstance(levels, (list, tuple)) and not getattr(levels, "ndim", 0):
        return arguments
    values = several(levels)
    if values is None or arguments["range"] is not None:
        raise Error(f"levels = {shown(levels)}: want their number, or without a range the label of each level, which ascend")
    return {**arguments, "levels": len(values), "range": values}


def _told(**arguments: Any) -> dict[str, Any]:
    """The arguments of ``fit``, with what the heads say that stand in the place of codes."""
    several = isinstance(arguments["code"], list)
    heads = arguments["code"] if several else [arguments["code"]]
    if not any(hasattr(head, "_told") for head in heads):
        return arguments
    if not all(hasattr(head, "_told") for head in heads):
        raise Error("code: want heads alone, or codes alone")
    for name in ("levels", "range", "training", "circular"):
        given = arguments[name]
        if given is not None and given is not False and not (isinstance(given, str) and given == "auto"):
            raise Error(f"{name} = {shown(given)}: the head has its own; leave it out")
    told = [head._told() for head in heads]
    codes, ranges = [of["code"] for of in told], [of["range"] for of in told]
    for name in ("levels", "training", "circular"):
        if len({of[name] for of in told}) > 1:
            raise Error(f"code: heads of several {name}; want one, or a call for each output")
    if all(isinstance(c, type(codes[0])) and np.array_equal(c, codes[0]) for c in codes):
        codes = codes[:1]
    elif not all(isinstance(c, str) and c != "direct" for c in codes):
        raise Error("code: heads of several matrices, or with and without a code; want a call for each output")
    clip = "clip" if any(of["outside"] == "clip" for of in told) else arguments["outside"]
    own = {**told[0], "code": codes if len(codes) > 1 else codes[0], "range": ranges if several else ranges[0], "outside": clip}
    if isinstance(own["code"], str):
        if own["code"] == "direct":

            def labels(z: ArrayLike, name: str) -> Any:
                a = array(z, name)
                if several and (a.ndim != 3 or a.shape[1] != len(heads)):
                    raise Error(f"{name} of shape {a.shape}: want (N, {len(heads)}, 1), an output for each head")
                return np.stack([h._predictions(a[:, k]) for k, h in enumerate(heads)], 1) if several else heads[0]._predictions(a)

            own["outputs"] = labels(arguments["outputs"], "outputs")
    elif not isinstance(own["code"], list):
        own["levels"] = None  # a matrix has them
    return {**arguments, **own}


def _fit(**arguments: Any) -> Fit:
    with Inputs() as inputs:
        inputs.call = call_of("fit", arguments)
        file = inputs.path("fit.json")
        fitted = inputs.path("decoder.npz")
        command = _fit_arguments(inputs, **arguments)
        out = [f"--output={path}" for path in (file, fitted)[: 1 + arguments["fit_decoder"]]]
        text = inputs.rename(run([*command, *out], inputs, progress=arguments["progress"]))

        def read() -> Fit:
            result = json.dumps(inputs.renamed(json.loads(file.read_text(encoding="utf-8"))), ensure_ascii=False)
            return Fit(result, text, arguments, Decoder.load(fitted) if arguments["fit_decoder"] else None)

        return answered(read)


def _of_output(arguments: dict[str, Any], k: int) -> dict[str, Any]:
    """The arguments of ``fit`` for one of several outputs."""
    out = {**arguments, "outputs": array(arguments["outputs"])[:, k], "targets": array(arguments["targets"])[:, k]}
    if arguments["baseline"] is not None:
        out["baseline"] = array(arguments["baseline"])[:, k]
    codes, ranges = _each(arguments["code"], str), _each(arguments["range"], tuple)
    return {**out, "code": codes[k % len(codes)], "range": ranges[k % len(ranges)]}


def _each(value: Any, kind: type) -> list[Any]:
    """What is given for each output of several, or for all: a list of values of a type, or one value."""
    return value if isinstance(value, list) and value and isinstance(value[0], kind) else [value]


def _fit_arguments(
    inputs: Inputs,
    *,
    code: Code | list[str],
    outputs: ArrayLike,
    targets: ArrayLike,
    range: ArrayLike | list[tuple[float, ...]] | None,  # noqa: A002
    outside: Outside,
    levels: int | None,
    kind: str,
    training: str,
    baseline: float | ArrayLike | None,
    circular: bool,
    progress: bool | None,
    **others: object,
) -> list[str]:
    choice(kind, Kind, "kind")
    prefix = "" if kind == "auto" else kind + ":"
    ranges = _each(range, tuple)
    z, y = unsigned(array(outputs, "outputs")), array(targets, "targets")
    direct = isinstance(code, str) and code == "direct"
    one = 1 if direct else 2  # dimensions of the outputs, if it is one
    if z.ndim not in (one, one + 1):
        swapped = "; outputs come before targets" if y.ndim > z.ndim else ""
        raise Error(f"outputs of {z.ndim} dimensions: want (N, M), or (N, K, M) for a network of K outputs{swapped}")
    k = z.shape[1] if z.ndim > one else 1
    if ranges is not range and y.shape[1:] != (k,) and (k > 1 or y.ndim != 1):
        want = f"(N, {k})" if k > 1 else f"(N,), or outputs (N, {y.shape[1]}, M)" if y.ndim == 2 else "(N,)"
        raise Error(f"targets of shape {y.shape} for outputs of shape {z.shape}: want {want}")
    if ranges is range and y.shape[1:] != (len(ranges),):
        raise Error(f"targets of shape {y.shape}: want (N, {len(ranges)}), a column for each range")
    first = ranges[0]
    switch(circular, "circular")
    if y.ndim > 1 and (missing := ~np.isfinite(y)).any():
        k = int(np.argwhere(missing)[0][1])
        raise Error(f"targets of output {k}: {missing[:, k].sum()} of {len(y)} are no finite numbers; fit each output by those that it "
                    "has: m = np.isfinite(targets[:, k]); fit(code, outputs[m, k], targets[m, k])")  # fmt: skip
    columns = [y[:, k] for k, _ in enumerate(ranges)] if len(ranges) > 1 else [targets]
    parts = [_targets(column, r, outside, circular) for column, r in zip(columns, ranges, strict=False)]
    labels = parts[0] if len(parts) == 1 else np.column_stack(parts)
    codes = _each(code, str)
    if switch(others["fit_decoder"], "fit_decoder") and z.ndim > one and z.shape[1] > 1:
        raise Error("fit_decoder=True is for a network of one output: leave it out, and take fit.each[k].decoder, k from 0, which "
                    "is fitted then")  # fmt: skip
    names = [inputs.code(c, "code") for c in codes]
    command = [
        "fit",
        *flags(
            outputs=prefix + inputs.array(_predictions(outputs, range, "outputs") if direct else outputs, "outputs"),
            targets=inputs.array(labels, "targets"),
            levels=levels,
            circular=circular,
            training=training,
            baseline=_baseline(inputs, baseline, first, y.shape),
            **others,
        ),
    ]
    return command + [f"--code={name}" for name in names] + [f"--range={ends(inputs, r)}" for r in ranges if r is not None]


def _baseline(
    inputs: Inputs,
    baseline: float | ArrayLike | None,
    range: ArrayLike | None,  # noqa: A002
    shape: tuple[int, ...],
) -> float | str | None:
    """Predictions as the command reads them, of the shape of the targets, or a number."""
    if baseline is None:
        return None
    if isinstance(baseline, str) or array(baseline, "baseline").ndim == 0:
        return number(baseline, "baseline")
    if array(baseline).shape[1:] != shape[1:] and array(baseline).size != shape[0]:
        raise Error(f"baseline of shape {array(baseline).shape}: want {shape}, as targets have")
    return inputs.array(_predictions(baseline, range, "baseline"), "baseline")


def _predictions(predictions: ArrayLike, range: object, name: str) -> ArrayLike:  # noqa: A002
    """Predictions as the command reads them: its levels count from 1."""
    return predictions if range is not None else wide(predictions, name) + 1


def _targets(targets: ArrayLike, range: ArrayLike | None, outside: Outside, circular: bool) -> NDArray[Any]:  # noqa: A002
    """Targets as the command reads them: its levels count from 1."""
    y = wide(targets, "targets")
    finite(y, "targets")
    if range is not None and (circular or several(range) is not None):
        return y  # the command counts those beyond the ends, or takes them round
    if range is not None:
        return within(targets, range, outside, "targets")
    wrong = np.argwhere(~((y == np.floor(y)) & (y >= 0) & (y < MOST_LEVELS)))
    if len(wrong):
        place = ", ".join(map(str, wrong[0]))
        raise Error(f"targets[{place}] = {y[tuple(wrong[0])]:g}: want levels from 0, or range=(a, b) for real labels")
    return y.astype(np.int64) + 1


class Optimized(_Results):
    """The result of ``optimize``. ``code`` is the code that was found, int32 of shape (L, M).

    ``error`` and ``stderr`` (in levels) are its sampled error; ``exact`` is the exact one or None.
    ``baselines`` is a DataFrame of your codes, and of the named ones of no more bits. Other names of the JSON are attributes.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        self.results = result
        self.code: NDArray[np.int32] = np.array([list(w) for w in result["words"]]).astype(np.int32)
        self.baselines: pd.DataFrame = table(result["baselines"])

    def _shown(self) -> tuple[str, pd.DataFrame | None]:
        return "baselines", self.baselines

    def __repr__(self) -> str:
        of = self.results
        error = f"{of['error']:.4g} levels" if of["stderr"] is None else f"{of['error']:.4g} ± {of['stderr']:.2g} levels"
        return f"<Optimized: {of['levels']} levels, {of['bits']} bits, {of['decoder']}: error {error}>"


def optimize(
    codes: Sequence[Code] = (),
    *,
    levels: int | None = None,
    circular: bool = False,
    bits: int | None = None,
    cost: str | ArrayLike | None = None,
    r: float | None = None,
    sigma: float | None = None,
    max_transitions: int | None = None,
    repeat: bool = False,
    steps: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
) -> Optimized:
    """Searches for the code of ``levels`` L and ``bits`` M with the smallest expected error.

    The error is that of bits that err independently, as ``r`` and ``sigma`` say, read by ``gen``: the bits of networks do not.
    ``codes``, as in ``compare``, are further codes to begin from, and to compare with. ``max_transitions`` limits the transitions
    of each bit. With ``repeat``, columns may be equal or complementary. ``steps`` says how long to search.

    Source: simulated annealing of code words (El Gamal, Hemachandra, Shperling and Wei, IEEE Trans. Inf. Theory 33, 1987).

    >>> import belsim
    >>> belsim.optimize(levels=16, bits=6, r=0.5, sigma=1, steps=200).code.shape
    (16, 6)
    """
    arguments = locals()
    return _command("optimize", arguments, Optimized)


def bench(plan: dict[str, Any] | str | os.PathLike[str] | None = None, *, workers: int | None = None) -> pd.DataFrame:
    """How fast every backend samples: a row for each problem and backend, with ``samples_per_second``.

    With a ``plan`` of ``sweep``: the ``seconds`` that its cells take on this machine, by code, decoder, method and backend.

    >>> import belsim
    >>> bool((belsim.bench(workers=1)["samples_per_second"] > 0).all())
    True
    """
    with Inputs() as inputs:
        plans = [] if plan is None else [_plan_file(plan, inputs)]
        return results(["bench", *flags(workers=workers, quiet=True), *plans], inputs, rows("results"))


def _plan(plan: dict[str, Any]) -> str:
    """The JSON of a plan: a tuple is a range, and arrays are lists."""

    def plain(value: Any) -> Any:
        if array(value, "plan").ndim > 1:
            raise Error("plan: a matrix; want names of codes, and paths of files, which numpy.save writes")
        return array(value, "plan").tolist()

    axes = {name: plan.get(name) for name in ("r", "sigma")}
    spans = {name: span(value, f"plan: {name}") for name, value in axes.items() if isinstance(value, tuple)}
    return json.dumps({**plan, **spans}, default=plain)


def _plan_file(plan: dict[str, Any] | str | os.PathLike[str], inputs: Inputs) -> str:
    """The file of a plan, which is written of a dict."""
    return inputs.text(_plan(plan), "plan", ".json") if isinstance(plan, dict) else path_of(plan, "plan")


def sweep(
    plan: dict[str, Any] | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    backend: Literal["auto", "cpu", "cuda"] | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Computes a plan of many cells, and returns a row for each cell, with ``worst_level`` from 0.

    ``plan`` is a plan as the command ``belsim sweep`` reads it, as a dict or a file. In a dict, ranges are as for ``heatmap``, and
    codes are names and paths of files. ``folder`` keeps what is finished: a call
    that was interrupted goes on from there when it is made again.

    >>> import belsim, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = {"codes": ["unary", "gray"], "levels": [8], "r": "0.5", "sigma": "1", "methods": ["exact"]}
    ...     belsim.sweep(plan, folder)[["code", "sigma", "mean"]].round(2).values.tolist()
    [['unary', 1, 0.34], ['gray', 1, 0.5]]
    """
    out = path_of(folder, "folder")
    with Inputs() as inputs:
        with refusing("plan, folder"):
            path = _plan_file(plan, inputs)
            Path(out).mkdir(parents=True, exist_ok=True)
        run(["sweep", *flags(out=out, workers=workers, backend=backend), "--", path], inputs, progress=progress)
        return results(
            ["merge", "--", out],
            inputs,
            lambda result: rows("cells")({k: v for k, v in result.items() if k != "plan"}),
            progress=progress,
        )
