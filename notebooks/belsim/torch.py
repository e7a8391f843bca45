"""Heads of regression networks in PyTorch: their losses, and what reads their outputs. Needs torch."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any, Literal, NoReturn

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from belsim import _codes
from belsim._call import Error, choice, count, number, pair, path_of, refusing, several, shown, wide

Kind = Literal["bce", "ce", "soft", "corn", "l1", "huber", "l2"]
Rule = Literal["mean", "median", "map"]
NAMED = {
    "softmax": "Head('ce', levels, code='onehot')",
    "hl-gauss": "Head('soft', levels, code='onehot')",
    "corn": "Head('corn', levels)",
    "direct": "Head('l1', levels), or with 'huber' or 'l2'",
}
"""The heads that ``fit`` names in the place of a code."""


class _Exact(nn.Module):
    """A module without weights, whose buffers describe the levels: a network in half precision does not round them."""

    def _apply(self, fn: Callable[[Tensor], Tensor], *others: Any, **more: Any) -> Any:
        exact = dict(self.named_buffers())
        move: Any = super()._apply  # which has no types
        out = move(fn, *others, **more)
        for name, buffer in self.named_buffers():
            if buffer.dtype != exact[name].dtype:
                setattr(self, name, exact[name].to(buffer.device))
        return out

    def _others(self, state: dict[str, Tensor], prefix: str) -> Iterator[str]:
        """The names of the buffers that have other values in a state."""
        for name, own in self.named_buffers():
            other = state.get(prefix + name)
            if other is not None and (other.shape != own.shape or not torch.equal(other.cpu(), own.cpu().to(other.dtype))):
                yield name

    def __prepare_scriptable__(self) -> NoReturn:
        ways = "use torch.compile, torch.export or torch.jit.trace"
        raise Error(f"torch.jit.script cannot compile a {type(self).__name__}, which refuses wrong tensors in Python: {ways}")


class Head(_Exact):
    """A loss and a decoder for the outputs of a network, of shape (..., ``Head.outputs``). It has no weights.

    With a code of L levels and M bits, ``outputs`` is M, and softmax(Z Cᵀ) of outputs Z is the distribution over the levels:

    - ``bce``: the binary cross-entropy of each bit of the nearest level
    - ``ce``: the cross-entropy of the distribution and the nearest level; of ``onehot`` it is a softmax classifier
    - ``soft``: the cross-entropy of the distribution and a Gaussian around the label, of standard deviation ``sigma`` in levels, cut at
      the ends and summed over the bin of each level; of ``onehot`` it is HL-Gauss (Imani and White 2018; Farebrother et al. 2024)

    Without a code:

    - ``corn``: L − 1 outputs, each the probability that the label is above a level, given that it is above the one before (Shi, Cao and
      Raschka 2023)
    - ``l1``, ``huber``, ``l2``: the mean absolute, Huber's (quadratic up to 1) or squared error in levels. ``outputs`` is 1: −1 stands
      for the first level and 1 for the last. With a code it is the error of the mean of the distribution

    ``levels`` is L. ``code`` is a name or an L × M matrix. Labels are real numbers: ``range[0]`` is level 0 and ``range[1]`` is level
    L − 1; without ``range`` labels are levels from 0. Those outside are refused; ``outside="clip"`` gives them the nearest end. To
    refuse, the loss must wait for the labels of each batch, and ``torch.compile`` makes two graphs of it. ``values`` has the label of
    each level instead, L numbers that ascend: the end levels clip then, ``mean`` is the mean of values, and ``sigma`` is in levels
    wherever they lie.

    Losses and labels are computed in float32 at least, also under autocast. The matrix is a buffer.

    >>> head = Head("soft", 64, code="johnson", range=(2.5, 4.3))
    >>> net = nn.Sequential(nn.Linear(8, 10), nn.Linear(10, head.outputs))  # yours, with so many outputs
    >>> x, y = torch.randn(5, 8), torch.tensor([2.5, 3.0, 3.5, 4.0, 4.3])
    >>> head.loss(net(x), y).backward()
    >>> head.decode(net(x)).shape  # labels
    torch.Size([5])
    """

    matrix: Tensor
    bits: Tensor
    places: Tensor

    def __init__(
        self,
        kind: Kind,
        levels: int,
        *,
        code: str | ArrayLike | None = None,
        sigma: float = 0.75,
        range: tuple[float, float] | None = None,  # noqa: A002
        values: ArrayLike | None = None,
        outside: _codes.Outside = "refuse",
    ) -> None:
        super().__init__()
        choice(kind, Kind, "kind")
        levels = count(levels, "levels")
        if code is None and kind in ("bce", "ce", "soft"):
            raise Error(f"{kind} needs a code")
        if code is not None and kind == "corn":
            raise Error("corn has no code")
        self.kind, self.levels, self.sigma, self.outside = kind, levels, number(sigma, "sigma"), outside
        if range is not None and (values is not None or several(range) is not None):
            raise Error("range: want (a, b); values has the label of each level instead")
        if isinstance(code, str) and code in NAMED:
            raise Error(f"code = {code!r}: no code, but a head: {NAMED[code]}")
        self.range = (0.0, levels - 1.0) if range is None else pair(range)
        if values is not None:
            self.range, self.outside = pair(values), "clip"
        uneven = None if values is None else _codes.values_of(values, levels)
        self.uneven = uneven is not None
        if uneven is not None:  # in mean widths of a level, from 0
            lo, hi = self.range
            self.register_buffer("places", torch.as_tensor((uneven - lo) * ((levels - 1) / (hi - lo))))
        choice(outside, _codes.Outside, "outside")
        self.outputs = levels - 1 if kind == "corn" else 1
        """The number of outputs that the network must have."""
        if code is not None:
            c = _codes.matrix(code, levels)
            self.outputs = c.shape[1]
            self.register_buffer("matrix", torch.as_tensor(c, dtype=torch.float32))
            if kind == "bce":
                self.register_buffer("bits", torch.as_tensor(_codes.targets_of(c), dtype=torch.float32))
        self.coded = code is not None
        self._code = code if isinstance(code, str) else "a matrix" if code is not None else None

    def extra_repr(self) -> str:
        """What ``print`` shows."""
        code = f", code={self._code!r}" if self.coded else ""
        sigma = f", sigma={self.sigma:g}" if self.kind == "soft" else ""
        return f"{self.kind!r}, levels={self.levels}{code}{sigma}, outputs={self.outputs}, range={self.range}"

    def get_extra_state(self) -> Tensor:
        """The range and the number of levels, which a ``state_dict`` has beside the code."""
        return torch.tensor([*self.range, self.levels], dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """Nothing: what is loaded must be what the head has."""

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *others: Any) -> None:
        """Refuses the state of a head of another range, number of levels or code: its network would be read wrongly."""
        errors: list[str] = others[-1]
        state, mine = state_dict.get(prefix + "_extra_state"), self.get_extra_state()
        if state is not None and not torch.equal(state.cpu(), mine):
            lo, hi, levels = state.tolist()
            errors.append(f"{prefix}range: the state is of a head for ({lo:g}, {hi:g}) and {levels:g} levels, and this one is for "
                          f"({mine[0]:g}, {mine[1]:g}) and {self.levels}: make a Head like that one")  # fmt: skip
        for name in self._others(state_dict, prefix):
            what = "other values" if name == "places" else f"another code than {self._code}"
            errors.append(f"{prefix}{name}: the state is of a head of {what}")
            return
        super()._load_from_state_dict(state_dict, prefix, *others)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of outputs, (..., ``Head.outputs``), for labels, (...)."""
        z = self._wide(outputs)
        _tensor(targets, "targets")
        if z.shape[:-1] != targets.shape:
            shapes = f"targets of shape {tuple(targets.shape)} for outputs of shape {tuple(z.shape)}"
            raise Error(f"{shapes}: want {tuple(z.shape[:-1])}, a label for each")
        with torch.autocast(z.device.type, enabled=False):
            z = z.flatten(0, -2)
            y = self._level(targets, z.device).flatten()
            at = self._index(y)
            level = (at + 0.5).floor().long().clamp(0, self.levels - 1)
            y = y.to(z.dtype)
            lost = (y - y).sum()  # 0, or NaN where a label is: a level has none, and compiled networks cannot look
            if self.kind == "bce":
                return functional.binary_cross_entropy_with_logits(z, self.bits.to(z.dtype)[level]) + lost
            if self.kind == "ce":
                return functional.cross_entropy(self._scores(z), level) + lost
            if self.kind == "soft":
                return functional.cross_entropy(self._scores(z), self.target(at.to(z.dtype)))
            if self.kind == "corn":
                k = torch.arange(self.levels - 1, device=z.device)
                asked = (level[:, None] >= k).to(z.dtype)
                above = (level[:, None] > k).to(z.dtype)
                return functional.binary_cross_entropy_with_logits(z, above, weight=asked, reduction="sum") / asked.sum() + lost
            found = self._found(z, "mean")
            if self.kind == "l1":
                return functional.l1_loss(found, y)
            return functional.huber_loss(found, y) if self.kind == "huber" else functional.mse_loss(found, y)

    def target(self, level: Tensor) -> Tensor:
        """The distributions of ``soft``, (..., L), around real levels from 0, of shape (...). Each sums to 1."""
        _tensor(level, "level")
        level = level if level.dtype in (torch.float32, torch.float64) else level.float()
        edges = torch.arange(self.levels + 1, dtype=level.dtype, device=level.device) - 0.5
        below = torch.special.ndtr((edges - level[..., None]) / self.sigma)
        out: Tensor = below.diff() / (below[..., -1:] - below[..., :1])
        return out

    def probabilities(self, outputs: Tensor) -> Tensor:
        """The distributions over the levels, (..., L), that outputs, (..., ``Head.outputs``), stand for."""
        if not (self.coded or self.kind == "corn"):
            raise Error(f"{self.kind} without a code has no distribution over the levels")
        z = self._wide(outputs)
        with torch.autocast(z.device.type, enabled=False):
            if self.coded:
                return torch.softmax(self._scores(z), -1)
            above = functional.logsigmoid(z).cumsum(-1).exp()
            return -functional.pad(functional.pad(above, (1, 0), value=1.0), (0, 1)).diff()

    def decode(self, outputs: Tensor, rule: Rule = "mean") -> Tensor:
        """The labels, (...), of outputs, (..., ``Head.outputs``), within the range, with gradients except for ``map``.

        ``rule`` says what is taken of the distribution over the levels: its ``mean`` (the decoder ``gen-ex``), the most probable level
        (``map``), or the ``median``, where the probability of a level is spread evenly over its bin. The rank of CORN is the median,
        rounded to a level. A single output is the label.
        """
        z = self._wide(outputs)
        with torch.autocast(z.device.type, enabled=False):
            lo, hi = self.range
            return lo + self._found(z, rule).clamp(0, self.levels - 1) * ((hi - lo) / (self.levels - 1))

    def forward(self, outputs: Tensor) -> Tensor:
        """The labels of ``decode``, so that a head can end a network: ``nn.Sequential(net, head)``."""
        return self.decode(outputs)

    def _told(self) -> dict[str, Any]:
        """What ``belsim.fit`` needs to know of a network with this head."""
        told: dict[str, Any] = {"levels": self.levels, "range": self.range, "outside": self.outside, "training": "auto"}
        if self.uneven:
            lo, hi = self.range
            told["range"] = lo + self.places.detach().cpu().double().numpy() * ((hi - lo) / (self.levels - 1))
        if not self.coded:
            return {**told, "code": "corn" if self.kind == "corn" else "direct"}
        if self.kind == "huber":
            raise Error("fit knows no huber with a code: give the code, levels and range of the head, and training='l1' or 'l2'")
        if self._code == "a matrix":
            return {**told, "code": self.matrix.detach().cpu().numpy(), "training": self.kind}
        return {**told, "code": self._code, "training": self.kind}

    def _predictions(self, outputs: ArrayLike) -> NDArray[Any]:
        """The labels of outputs without a code, as ``belsim.fit`` reads them."""
        found: NDArray[Any] = self.decode(torch.as_tensor(wide(outputs, "outputs"))).detach().numpy()
        return found

    def _wide(self, outputs: Tensor) -> Tensor:
        """Outputs in float32 or float64."""
        _tensor(outputs, "outputs", self.outputs)
        return outputs if outputs.dtype in (torch.float32, torch.float64) else outputs.float()

    def _scores(self, z: Tensor) -> Tensor:
        return z @ self.matrix.to(z.dtype).T

    def _index(self, y: Tensor) -> Tensor:
        """The level, from 0, that each place of ``_level`` has, in proportion between two levels."""
        if not self.uneven:
            return y
        v = self.places.to(y)
        at = torch.searchsorted(v, y.contiguous()).clamp(1, self.levels - 1)
        return at - 1 + (y - v[at - 1]) / (v[at] - v[at - 1])

    def _place(self, level: Tensor) -> Tensor:
        """The inverse of ``_index``."""
        if not self.uneven:
            return level
        v, level = self.places.to(level), level.clamp(0, self.levels - 1)
        at = level.detach().floor().long().clamp(0, self.levels - 2)  # also of NaN
        return v[at] + (level - at) * (v[at + 1] - v[at])

    def _found(self, z: Tensor, rule: str) -> Tensor:
        """Levels from 0, in mean widths."""
        choice(rule, Rule, "rule")
        if not (self.coded or self.kind == "corn"):
            return (z[..., 0] + 1) * ((self.levels - 1) / 2)
        p = self.probabilities(z)
        if rule == "mean":
            return p @ (self.places.to(p) if self.uneven else torch.arange(self.levels, dtype=p.dtype, device=p.device))
        if rule == "map":
            return self._place(p.argmax(-1).to(p.dtype) + (p - p).sum(-1))  # 0, or NaN where an output is
        upto = p.cumsum(-1)
        at = (upto < upto[..., -1:] / 2).sum(-1, keepdim=True).clamp(max=self.levels - 1)
        share, end = p.gather(-1, at), upto.gather(-1, at)
        return self._place((at + 0.5 - (end - upto[..., -1:] / 2) / share)[..., 0])

    def _level(self, target: Tensor, device: torch.device) -> Tensor:
        """Real levels from 0 of labels, in mean widths and in float64, which some devices do not have."""
        y = target.to("cpu" if device.type == "mps" else device).double()
        lo, hi = self.range
        if self.outside == "refuse":
            slack = max(1e-6, torch.finfo(target.dtype).eps if target.is_floating_point() else 0) * max(hi - lo, abs(lo), abs(hi))
            if not bool(((y >= lo - slack) & (y <= hi + slack)).all()):
                _codes.within(y, self.range, "refuse", "labels")  # says which
        level = ((y - lo) * ((self.levels - 1) / (hi - lo))).clamp(0, self.levels - 1)
        return level.float().to(device) if device.type == "mps" else level


def _tensor(value: object, name: str, columns: int | None = None) -> None:
    """Refuses what is no dense tensor of real numbers, with a last dimension of so many columns."""
    want = "(...)" if columns is None else f"(..., {columns})"
    if not isinstance(value, Tensor):
        raise Error(f"{name} = {shown(value)}: want a tensor {want}")
    if value.is_complex() or value.is_nested or value.layout != torch.strided or value.is_quantized or value.device.type == "meta":
        raise Error(f"{name}: want a dense tensor of real numbers, which has values")
    if columns is not None and value.shape[-1:] != (columns,):
        raise Error(f"{name} of shape {tuple(value.shape)}: want a tensor {want}")


class Decoder(_Exact):
    """A decoder that ``fit`` fitted, as a module: outputs, (..., M), to labels, (...). It computes in float64, without
    gradients, in a network of any precision.

    ``fitted`` is ``fit(...).decoder``, or the path of its .npz file. Outputs are logits, also where the decoder reads their signs only.

    >>> import belsim
    >>> level = np.arange(2000) % 16
    >>> seen = np.clip(level + np.random.default_rng(1).integers(-1, 2, 2000), 0, 15)
    >>> logits = 4.0 * belsim.code("johnson", 16)[seen] - 2
    >>> fitted = belsim.fit("johnson", logits, level, levels=16, samples=2, fit_decoder=True).decoder
    >>> decoder = Decoder(fitted)
    >>> decoder(torch.tensor(logits)).shape  # levels here; labels, if it was fitted with a range
    torch.Size([2000])
    >>> decoder.predict_interval(torch.tensor(logits), confidence=0.9).shape  # lower and upper
    torch.Size([2000, 2])
    """

    weights: Tensor
    offsets: Tensor
    values: Tensor
    residuals: Tensor

    def __init__(self, fitted: _codes.Decoder | str | os.PathLike[str]) -> None:
        super().__init__()
        if not isinstance(fitted, _codes.Decoder):
            fitted = _codes.Decoder.load(path_of(fitted, "fitted", "fit(...).decoder, or the path of its .npz file"))
        arrays = fitted.arrays()
        with refusing("no fitted decoder"):
            self.rule, self.reads = str(arrays["rule"][0]), str(arrays["reads"][0])
            choice(self.rule, Rule, "rule")
            choice(self.reads, Literal["logits", "bits"], "reads")
            for name in ("weights", "offsets", "values"):
                self.register_buffer(name, torch.as_tensor(np.asarray(arrays[name], np.float64)))
            if self.weights.ndim != 2 or self.offsets.shape != self.values.shape or self.offsets.shape != self.weights.shape[:1]:
                raise ValueError("weights (L, M), offsets (L,) and values (L,)")
            self.register_buffer("residuals", torch.as_tensor(np.asarray(arrays["residuals"], np.float64)), persistent=False)
            self.floor = float(np.ravel(arrays["floor"])[0])
            self.sorted = str(arrays["sigmas"][0]) == "sorted sigmoids"
        self._of = repr(fitted).strip("<>").removeprefix("Decoder of ")

    def extra_repr(self) -> str:
        """What ``print`` shows."""
        return self._of

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *others: Any) -> None:
        """Refuses the state of another decoder, which may have another rule, and has other intervals."""
        names = list(self._others(state_dict, prefix))
        if names:
            others[-1].append(f"{prefix}{names[0]}: the state is of another decoder than {self._of}: make a Decoder of its file")
            return
        super()._load_from_state_dict(state_dict, prefix, *others)

    def forward(self, outputs: Tensor) -> Tensor:
        """The labels of the outputs."""
        return self._read(outputs)[0]

    def predict_interval(self, outputs: Tensor, confidence: float = 0.9) -> Tensor:
        """The intervals that hold the labels with a confidence level, (..., 2): lower and upper, as ``belsim.Decoder`` says."""
        confidence, n = number(confidence, "confidence"), len(self.residuals)
        if not 0 < confidence < 1:
            raise Error(f"confidence = {confidence:g}: want a number between 0 and 1, such as 0.9")
        rank, most = math.ceil((n + 1) * (1 + confidence) / 2 - 1e-9), math.floor(1e4 * (1 - 2 / (n + 1))) / 1e4
        if rank > n:
            raise Error(f"confidence = {confidence:g}: {n} calibration samples support at most {most:g}")
        label, p, z = self._read(outputs)
        with torch.no_grad(), torch.autocast(outputs.device.type, enabled=False):
            v, q = self.values.double(), self.residuals.double()
            if self.sorted:
                above = z.sigmoid().sort(-1, descending=True).values
                p = -functional.pad(functional.pad(above, (1, 0), value=1.0), (0, 1)).diff()
            width = functional.pad((v[2:] - v[:-2]) / 2, (1, 1))
            width[0], width[-1] = v[1] - v[0], v[-1] - v[-2]
            variance = (p * (v - (p @ v)[..., None]) ** 2).sum(-1) + self.floor * (p @ (width**2 / 12))
            ends = torch.stack((q[n - rank].clamp(max=0), q[rank - 1].clamp(min=0)))  # an interval holds its own label
            return (label[..., None] + ends * variance.sqrt()[..., None]).clamp(v[0], v[-1])

    def _read(self, outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The labels, the probabilities of the levels, and what was read."""
        _tensor(outputs, "outputs", self.weights.shape[1])
        with torch.no_grad(), torch.autocast(outputs.device.type, enabled=False):
            z = outputs.double()
            if self.reads == "bits":
                z = torch.where(z > 0, 1.0, -1.0).double()
            s = z @ self.weights.double().T + self.offsets.double()
            p = s.softmax(-1)
            lost = outputs.double().isnan().any(-1)  # a sign, and the largest of some, hide a NaN
            if self.rule == "mean":
                label = p @ self.values.double()
            else:
                at = s.argmax(-1) if self.rule == "map" else (p.cumsum(-1) < 0.5 - 1e-9).sum(-1)
                label = self.values.double()[at]
            return label.masked_fill(lost, math.nan), p, z
