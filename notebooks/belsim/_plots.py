"""Pictures, drawn with matplotlib in the style that its user has set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from belsim._call import Error, Short, ascii_of, path_of, real, refusing, shown, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any


def axes(ax: Axes | None, height: float | None = None) -> Axes:
    """The axes to draw on: those of the caller, or new ones, so many inches high for letters of 10 points."""
    try:
        import matplotlib.axes
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise Error("pictures need matplotlib: pip install 'belsim[plot]'", 3) from error
    if ax is not None:
        if not isinstance(ax, matplotlib.axes.Axes):
            raise Error(f"ax = {shown(ax)}: want axes of matplotlib")
        return ax
    figure, out = plt.subplots(layout="constrained")
    if height is not None:
        figure.set_figheight(height * plt.rcParams["font.size"] / 10)
    return out


_TEX = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "|": "$|$", "<": "$<$", ">": "$>$",
    "σ": r"$\sigma$", "κ": r"$\kappa$", "η": r"$\eta$", "±": r"$\pm$", "−": "$-$", "–": "--", "≤": r"$\leq$", "×": r"$\times$",
}  # fmt: skip


def tex(text: str) -> str:
    """A text as matplotlib draws it: with ``text.usetex`` signs are commands of TeX."""
    import matplotlib as mpl

    if not mpl.rcParams["text.usetex"]:
        return text
    return "".join(_TEX.get(c, "\\" + c if c in "%_#&${}" else ascii_of(c)) for c in text)


class Pictured(metaclass=Short):
    """A result that has a picture."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws on the axes, or on new ones, and returns them."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the picture of ``plot`` to a file: .png, .svg or .pdf. ``options`` are those of matplotlib's ``savefig``."""
        file = path_of(path, "path")
        ending = Path(file).suffix[1:].lower()
        if not ending:
            raise Error(f"{file}: want a name that ends in .png, .svg or .pdf")
        if real(options.get("dpi")) < 1:  # matplotlib's hatches divide by its whole number, which would end Python
            raise Error(f"dpi = {shown(options['dpi'])}: want 1 at least")
        figure: Any = self.plot().figure
        try:
            with refusing(f"cannot write {file}"):  # such as an ending that is none, or an option of another type
                write(file, lambda out: figure.savefig(out, **{"format": ending, **options}))
        finally:
            import matplotlib.pyplot as plt

            plt.close(figure)


def heatmap(ax: Axes | None, x: ArrayLike, y: ArrayLike, increase: ArrayLike, what: str) -> Axes:
    """A map with a line where both errors are equal, hatched where there is none.

    Axes are logarithmic where their values are evenly spaced so.
    """
    out, z = axes(ax), np.asarray(increase)
    most = np.nanmax(np.abs(z)) if np.isfinite(z).any() else 1.0
    out.patch.set(hatch="///", facecolor="white", edgecolor="0.75", linewidth=0)  # seen where no cell is drawn
    mesh = out.pcolormesh(x, y, z, shading="nearest", cmap="RdBu_r", vmin=-most, vmax=most)
    for name, values, label, scale in (("x", x, "r (levels)", out.set_xscale), ("y", y, "σ (levels)", out.set_yscale)):
        steps = np.diff(np.log(np.asarray(values)))
        if len(steps) > 1 and np.allclose(steps, steps[0]):
            scale("log")
        out.set(**{f"{name}label": tex(label)})
    if min(z.shape) > 1 and np.nanmin(z, initial=1) < 0 < np.nanmax(z, initial=-1):
        line = out.contour(x, y, np.ma.masked_invalid(z), levels=[0], colors="black")
        out.clabel(line, fmt="equal")
    out.figure.colorbar(mesh, ax=out, label=tex(what))
    return out


def verification(ax: Axes | None, labels: pd.DataFrame) -> Axes:
    """Bound, exact value and samples of every level."""
    out = axes(ax)
    for name in ("bound", "exact"):
        if labels[name].notna().any():
            out.plot(labels["level"], labels[name], label=name)
    out.errorbar(labels["level"], labels["mean"], labels["stderr"], fmt=".", label=tex("sampled ± s.e."))
    out.set(xlabel="level", ylabel=tex("mean |error| (levels)"))
    out.legend()
    return out


def profiles(ax: Axes | None, bits: Sequence[dict[str, Any]], model: str, name: str) -> Axes:
    """Error rates of some bits over the levels, with their 95 % intervals, and the model's curve."""
    out = axes(ax)
    for bit in bits:
        rate = np.asarray(bit["rate"], dtype=float)
        spread = np.abs(np.array([bit["rate_lo"], bit["rate_hi"]], dtype=float) - rate)
        points = out.errorbar(bit["rate_levels"], rate, spread, fmt=".", label=f"{name} {bit['bit']}")
        if bit["curve"] is not None:
            out.plot(bit["curve_levels"], bit["curve"], color=points.lines[0].get_color())
    low, high = out.get_ylim()
    across = 3
    rows = -(-len(bits) // across)  # of the legend, which lies above the bars
    out.set(xlabel="level", ylabel="error rate", title=tex(model), ylim=(low, high + 0.09 * rows * (high - low)))
    out.legend(loc="upper center", ncols=across)
    return out


def _signed(ratio: float, places: int) -> str:
    """A ratio as a difference from 1, in percent."""
    text = f"{100 * (ratio - 1):+.{places}f}".replace("-", "−")
    return "0" if not text.strip("+−0.") else text


def _against(ratio: float, lo: float, hi: float) -> str:
    """A ratio and its interval as differences from 1, as the command writes them."""
    between = 1 if hi - lo < 0.03 else 0
    return f"{_signed(ratio, 0 if abs(ratio - 1) >= 0.0995 else 1)} % ({_signed(lo, between)} to {_signed(hi, between)} %)"


_TRAININGS = {"soft": "soft targets"}


def forest(ax: Axes | None, rows: pd.DataFrame, title: str) -> Axes:
    """Forecast errors over the measured one, the smallest at the top, with their 95 % intervals, which the margin has as numbers.

    The network's own row is a square. An interval that is longer than the axis ends in an arrow.
    """
    out, place = axes(ax, 1.5 + 0.2 * len(rows)), np.arange(len(rows))
    from matplotlib import font_manager, rcParams, ticker

    if ax is None:
        whole: Any = out.figure
        whole.set_figwidth(1.2 * whole.get_figwidth())

    ratio, lo, hi = (rows[name].to_numpy(dtype=float) for name in ("ratio", "ratio_lo", "ratio_hi"))
    far = 6.0
    left, right = max(min(lo.min(), 1), 1 / far) * 0.97, min(max(hi.max(), 1), far) * 1.03
    out.set(xscale="log", xlim=(left, right), ylim=(len(rows) - 0.5, -0.5))
    out.axvline(1, color="0.5", linestyle="--", linewidth=1, zorder=1)
    size = font_manager.FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points()
    told = [f"{d}, {_TRAININGS.get(t, t.upper())}" for d, t in rows[["decoder", "training"]].values.tolist()]
    margin = 0.5 * size * max(map(len, told)) + 14  # points, which the notes take
    across: Any = {"xycoords": out.get_yaxis_transform(), "va": "center", "annotation_clip": False}
    names = []
    for i, (name, own, measured) in enumerate(zip(rows["code"], rows["trained"], rows["forecast"], strict=True)):
        color, yours = ("C1" if own else "C0"), "yours: " * bool(own)
        if i % 2:
            out.axhspan(i - 0.5, i + 0.5, color="0.95", linewidth=0, zorder=0)
        out.plot([max(lo[i], left), min(hi[i], right)], [i, i], color=color, linewidth=1.5)
        for beyond, end, mark in ((lo[i] < left, left, "<"), (hi[i] > right, right, ">")):
            if beyond:
                out.plot(end, i, mark, color=color, clip_on=False, markersize=5)
        if left <= ratio[i] <= right:
            out.plot(ratio[i], i, "s" if own else "o", color=color, markersize=6)
        text = f"measured: {measured:.4g}" if own else _against(ratio[i], lo[i], hi[i])
        out.annotate(tex(text), (1.035, i), fontsize="small", **across)
        out.annotate(tex(told[i]), (0, i), xytext=(-margin + 6, 0), textcoords="offset points", fontsize="small", color="0.5", **across)
        names.append(tex(yours + name))
    out.set_yticks(place, names)
    out.tick_params(axis="y", length=0, pad=margin)
    out.set(xlabel=tex("error over yours, 95 % interval"), title=tex(title))
    out.xaxis.set_major_locator(ticker.FixedLocator([0.2, 0.5, 1, 2, 5]) if right > 2 * left else ticker.MaxNLocator(5))
    out.xaxis.set_major_formatter("{x:g}")
    out.xaxis.set_minor_locator(ticker.NullLocator())
    out.grid(axis="x", color="0.9", linewidth=0.8)
    out.set_axisbelow(True)
    for side in ("left", "right", "top"):
        out.spines[side].set_visible(False)
    return out
