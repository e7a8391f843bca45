"""Pictures, drawn with matplotlib in the style that its user has set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from belsim._call import Error, path_of, real, refusing, shown, write

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


class Pictured:
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


def heatmap(ax: Axes | None, x: ArrayLike, y: ArrayLike, increase: ArrayLike, names: tuple[str, str], what: str) -> Axes:
    """A map with white where both errors are the same, hatched where there is none.

    Axes are logarithmic where their values are evenly spaced so.
    """
    out, z = axes(ax), np.asarray(increase)
    most = np.nanmax(np.abs(z)) if np.isfinite(z).any() else 1.0
    out.patch.set(hatch="///", facecolor="white", edgecolor="0.75", linewidth=0)  # seen where no cell is drawn
    mesh = out.pcolormesh(x, y, z, shading="nearest", cmap="RdBu_r", vmin=-most, vmax=most)
    for name, values, label, scale in (("x", x, names[0], out.set_xscale), ("y", y, names[1], out.set_yscale)):
        steps = np.diff(np.log(np.asarray(values)))
        if len(steps) > 1 and np.allclose(steps, steps[0]):
            scale("log")
        out.set(**{f"{name}label": label})
    out.figure.colorbar(mesh, ax=out, label=what)
    return out


def verification(ax: Axes | None, labels: pd.DataFrame) -> Axes:
    """Bound, exact value and samples of every level."""
    out = axes(ax)
    for name in ("bound", "exact"):
        if labels[name].notna().any():
            out.plot(labels["level"], labels[name], label=name)
    out.errorbar(labels["level"], labels["mean"], labels["stderr"], fmt=".", label="sampled ± s.e.")
    out.set(xlabel="level", ylabel="mean |error| (levels)")
    out.legend()
    return out


def profiles(ax: Axes | None, bits: Sequence[dict[str, Any]], model: str) -> Axes:
    """Error rates of some bits over the levels, with their 95 % intervals, and the model's curve."""
    out = axes(ax)
    for bit in bits:
        rate = np.asarray(bit["rate"], dtype=float)
        spread = np.abs(np.array([bit["rate_lo"], bit["rate_hi"]], dtype=float) - rate)
        points = out.errorbar(bit["rate_levels"], rate, spread, fmt=".", label=f"bit {bit['bit']}")
        if bit["curve"] is not None:
            out.plot(bit["curve_levels"], bit["curve"], color=points.lines[0].get_color())
    out.set(xlabel="level", ylabel="error rate", title=model)
    out.legend()
    return out


def forest(ax: Axes | None, rows: pd.DataFrame) -> Axes:
    """Forecast errors over the measured one, the smallest at the top, with their 95 % intervals."""
    out, place = axes(ax, 1.2 + 0.2 * len(rows)), np.arange(len(rows))
    from matplotlib import ticker

    spread = np.abs(rows[["ratio_lo", "ratio_hi"]].to_numpy(dtype=float).T - rows["ratio"].to_numpy(dtype=float))
    out.errorbar(rows["ratio"], place, xerr=spread, fmt="o")
    out.axvline(1, color="gray", linewidth=0.8)
    out.set_yticks(
        place, [f"{c}, {t.upper()}{' (yours)' * yours}" for c, t, yours in rows[["code", "training", "trained"]].values.tolist()]
    )
    out.set_ylim(len(rows) - 0.4, -0.6)
    out.set(xscale="log", xlabel="error over yours, 95 % interval")
    lo, hi = out.get_xlim()
    out.xaxis.set_major_locator(ticker.MaxNLocator(5) if hi < 5 * lo else ticker.LogLocator(subs=(1, 2, 5)))
    out.xaxis.set_major_formatter("{x:g}")
    out.xaxis.set_minor_locator(ticker.NullLocator())
    return out
