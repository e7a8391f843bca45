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


def axes(ax: Axes | None) -> Axes:
    """The axes to draw on: those of the caller, or new ones."""
    try:
        import matplotlib.axes
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise Error("pictures need matplotlib: pip install 'belsim[plot]'", 3) from error
    if ax is not None:
        if not isinstance(ax, matplotlib.axes.Axes):
            raise Error(f"ax = {shown(ax)}: want axes of matplotlib")
        return ax
    return plt.subplots(layout="constrained")[1]


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
