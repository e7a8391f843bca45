"""Heads of regression networks in PyTorch: their losses, and what reads their outputs. Needs torch."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NoReturn

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional

from belsim import _codes
from belsim._call import Error, Short, choice, count, number, pair, path_of, refusing, several, shown, switch, warn, wide

__all__ = ["Decoder", "Head"]

Kind = Literal["bce", "ce", "soft", "corn", "l1", "huber", "l2"]
Rule = Literal["mean", "median", "map"]
NAMED = {
    "softmax": "Head('ce', levels, code='onehot')",
    "hl-gauss": "Head('soft', levels, code='onehot')",
    "corn": "Head('corn', levels)",
    "direct": "Head('l1', levels), or with 'huber' or 'l2'",
}
"""The heads that ``fit`` names in the place of a code."""
MASKED = 1e30
"""An output below −MASKED/2 is a probability of 0."""


class _Exact(nn.Module, metaclass=Short):
    """A module without weights, whose buffers describe the levels.

    A network in half precision does not round them, and one that is made on the device meta, or emptied, does not lose them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, Tensor] = {}  # the buffers, on the CPU

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(nn.Module)})

    def _keep(self, name: str, values: NDArray[Any], dtype: torch.dtype, *, persistent: bool = True) -> None:
        """Registers a buffer, on the device of new tensors."""
        self._given[name] = torch.as_tensor(values, dtype=dtype, device="cpu")
        new = torch.empty(0).device
        self.register_buffer(name, self._given[name].to("cpu" if new.type == "meta" else new, copy=True), persistent=persistent)

    def reset_parameters(self) -> None:
        """Gives the buffers their values, where ``to_empty`` or the device meta have lost them."""
        for name, given in self._given.items():
            own = getattr(self, name)
            setattr(self, name, given.to("cpu" if own.is_meta else own.device, copy=True))

    def _apply(self, fn: Callable[[Tensor], Tensor], *others: Any, **more: Any) -> Any:
        move: Any = super()._apply  # which has no types
        out = move(fn, *others, **more)
        for name, given in self._given.items():
            own = getattr(self, name)
            plain = type(own) is Tensor and not own.is_meta  # fake tensors have no values
            if own.dtype != given.dtype or (plain and not torch.equal(own.cpu(), given)):
                setattr(self, name, given.to(own.device, copy=True))
        return out

    def _others(self, state: dict[str, Tensor], prefix: str) -> Iterator[str]:
        """The names of the buffers that have other values in a state."""
        for name, own in self._given.items():
            other = state.get(prefix + name)
            if other is None or other.is_meta:
                continue
            if other.shape != own.shape or not torch.equal(other.cpu(), own.to(other.dtype)):
                yield name

    def __prepare_scriptable__(self) -> NoReturn:
        ways = "use torch.compile, torch.export or torch.jit.trace"
        raise Error(f"torch.jit.script cannot compile a {type(self).__name__}, which refuses wrong tensors in Python: {ways}")


class Head(_Exact):
    """A loss and a decoder for the outputs of a network, of shape (..., ``Head.outputs``). It has no weights.

    With a code of L levels and M bits, ``outputs`` is M, and softmax(Z Cᵀ) of outputs Z is the distribution over the levels
    (Eq. 6 of Shah, Xue and Aamodt, ICLR 2022):

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

    With ``circular``, the ends of ``range`` are one point, as angles have them: level 0 is beside level L − 1, levels are (b − a)/L
    apart (without ``range`` labels are levels, and L is 0), and labels outside go round. Errors are the shorter way, ``mean`` is the
    direction of the mean, the median is the level of the smallest mean distance, without gradients, and the Gaussian of ``soft`` is
    wrapped.

    Losses are computed in float32 at least, also under autocast, and labels in float64 where the device has it: in float32, levels that
    are close to each other and far from 0 would be one. An output of −∞ is a probability of 0, so masked levels are left out;
    +∞ in a softmax has no answer, as NaN has none: labels are NaN.

    >>> import torch
    >>> from torch import nn
    >>> from belsim.torch import Head
    >>> head = Head("soft", 64, code="johnson", range=(2.5, 4.3))
    >>> net = nn.Sequential(nn.Linear(8, 10), nn.Linear(10, head.outputs))  # yours, with so many outputs
    >>> x, y = torch.randn(5, 8), torch.tensor([2.5, 3.0, 3.5, 4.0, 4.3])
    >>> head.loss(net(x), y).backward()
    >>> head.decode(net(x)).shape  # labels
    torch.Size([5])
    """

    matrix: Tensor
    bits: Tensor
    values: Tensor

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
        circular: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(kind, str) and kind in NAMED and kind != "corn":
            raise Error(f"kind = {kind!r}: want {NAMED[kind]}")
        choice(kind, Kind, "kind")
        levels = count(levels, "levels")
        if code is None and kind in ("bce", "ce", "soft"):
            raise Error(f"{kind} needs a code, such as code='unary'")
        if code is not None and kind == "corn":
            raise Error("corn has no code")
        self.kind, self.levels, self.sigma, self.outside = kind, levels, number(sigma, "sigma"), outside
        if range is not None and (values is not None or several(range) is not None):
            raise Error("range: want (a, b); values has the label of each level instead")
        if isinstance(code, str) and code in NAMED:
            raise Error(f"code = {code!r}: no code, but a head: {NAMED[code]}")
        self.circular = switch(circular, "circular")
        """Whether level 0 is beside level L − 1."""
        if self.circular and isinstance(code, str) and code == "unary":
            warn("unary on a circle changes all its bits between the last level and level 0: take code='johnson'")
        self._steps = levels if circular else levels - 1
        self.range = (0.0, float(self._steps)) if range is None else pair(range)
        if values is not None and circular:
            raise Error("values: levels on a circle are even: want range=(a, b), whose ends are one point, such as (0, 360)")
        if values is not None:
            given = wide(values, "values")
            if given.shape != (levels,):
                raise Error(f"values of shape {given.shape}: want ({levels},), the label of each level; range has two ends")
            self.range, self.outside = pair(values), "clip"
        uneven = None if values is None else _codes.values_of(values, levels)
        self.uneven = uneven is not None
        if uneven is not None:  # parts in float32 whose sum is exact: some devices have no float64
            self._exponent = int(np.frexp(np.abs(uneven).max())[1])
            rest, parts = np.ldexp(uneven, -self._exponent), []
            for _ in "012":
                parts.append(rest.astype(np.float32))
                rest = rest - parts[-1]
            self._keep("values", np.stack(parts), torch.float32)
        choice(outside, _codes.Outside, "outside")
        self.outputs = levels - 1 if kind == "corn" else 1
        """The number of outputs that the network must have."""
        if code is not None:
            c = _codes.matrix(code, levels)
            self.outputs = c.shape[1]
            self._keep("matrix", c, torch.float32)
            if kind == "bce":
                self._keep("bits", _codes.targets_of(c), torch.float32)
            self.unary = c.shape[1] == levels - 1 and _codes.is_unary(c)
        self.coded = code is not None
        self._loss_weights: Tensor | None = None  # of bound
        self._code = code if isinstance(code, str) else "a matrix" if code is not None else None

    def extra_repr(self) -> str:
        """What ``print`` shows."""
        code = f", code={self._code!r}" if self.coded else ""
        sigma = f", sigma={self.sigma:g}" if self.kind == "soft" else ""
        circular = ", circular=True" if self.circular else ""
        return f"{self.kind!r}, levels={self.levels}{code}{sigma}, outputs={self.outputs}, range={self.range}{circular}"

    def get_extra_state(self) -> Tensor:
        """The range, the number of levels and the circle, which a ``state_dict`` has beside the code."""
        return torch.tensor([*self.range, self.levels, *[1] * self.circular], dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """Nothing: what is loaded must be what the head has."""

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *others: Any) -> None:
        """Refuses the state of a head of another range, number of levels or code: its network would be read wrongly."""
        errors: list[str] = others[-1]
        state, mine = state_dict.get(prefix + "_extra_state"), self.get_extra_state()
        if state is not None and not torch.equal(state.cpu(), mine):
            lo, hi, levels, *circle = state.tolist()
            errors.append(f"{prefix}range: the state is of a head for ({lo:g}, {hi:g}) and {levels:g} levels"
                          f"{' on a circle' * bool(circle)}, and this one is for ({mine[0]:g}, {mine[1]:g}) and {self.levels}"
                          f"{' on a circle' * self.circular}: make a Head like that one")  # fmt: skip
        for name in self._others(state_dict, prefix):
            what = "other values" if name == "values" else f"another code than {self._code}"
            errors.append(f"{prefix}{name}: the state is of a head of {what}")
            return
        super()._load_from_state_dict(state_dict, prefix, *others)

    def loss(self, outputs: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean loss of outputs, (..., ``Head.outputs``), for labels, (...).

        ``weights`` has the shape of the labels: (N,), or (N, K) for K labels of each sample. With it, the loss is the weighted
        mean. Weights are 0 or more; a label of weight 0 and its outputs may be NaN. In labels (N, K), NaN is a missing label, of
        weight 0. Without a label, or where all weights are 0, the loss is NaN; so it is for negative weights where nothing can be
        refused, in compiled code and on a GPU with ``outside="clip"``.
        """
        z = self._wide(outputs)
        self._suspect(z)
        for name, given in (("targets", targets), ("weights", weights)):
            if given is not None:
                _tensor(given, name)
            if given is not None and z.shape[:-1] != given.shape:
                shapes = f"{name} of shape {tuple(given.shape)} for outputs of shape {tuple(z.shape)}"
                raise Error(f"{shapes}: want {tuple(z.shape[:-1])}, one for each label" if name == "weights" else
                            f"{shapes}: want {tuple(z.shape[:-1])}, a label for each")  # fmt: skip
        with torch.autocast(z.device.type, enabled=False):
            w = self._weights(targets, weights, z)
            if w is not None:  # what does not count may be NaN
                counts = w > 0
                targets = targets if targets.is_floating_point() else _widest(targets)
                targets, z = torch.where(counts.to(targets.device), targets, self.range[0]), torch.where(counts[..., None], z, 0.0)
            y = self._level(targets, z.device).flatten()
            z = z.reshape(-1, self.outputs)
            losses, of = self._losses(z, y)
            if w is not None:
                losses, of = losses * w.flatten(), of * w.flatten()
            return losses.sum() / of.sum()

    def _weights(self, targets: Tensor, weights: Tensor | None, z: Tensor) -> Tensor | None:
        """The weight of each label, over the largest; None where all count alike. NaN for what is none, where nothing is refused."""
        known = targets.isnan().logical_not().to(z.device) if targets.ndim > 1 and targets.is_floating_point() else None
        if weights is None:
            return None if known is None else known.to(z.dtype)
        w = _widest(weights.to(z.device))
        wrong = ((w >= 0) & w.isfinite()).logical_not()
        if self._any(wrong):
            raise Error("weights: want finite numbers of 0 or more")
        if known is not None:
            w = w.masked_fill(known.logical_not(), 0.0)
        w = w.masked_fill(wrong, math.nan)
        return (w / functional.pad(w.detach().flatten(), (0, 1)).max()).to(z.dtype)

    def _any(self, wrong: Tensor) -> bool:
        """Whether something is wrong. A head that clips does not wait for a device, nor break a graph, to know."""
        if self.outside == "refuse":
            return bool(wrong.any())
        if not torch.compiler.is_compiling() and not torch.jit.is_tracing() and wrong.device.type == "cpu":
            with suppress(RuntimeError):  # mapped
                return bool(wrong.any())
        return False

    def _losses(self, z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of each of N labels, and the number of terms it is the sum of, which a mean divides by."""
        at = self._index(y)
        level = self._rows(at)
        y = y.to(z.dtype)
        lost = y - y  # 0, or NaN where a label is: a level has none, and compiled networks cannot look
        one = torch.ones_like(y)
        if self.kind == "bce":
            bits = functional.binary_cross_entropy_with_logits(_finite(z), self.bits.to(z.dtype)[level], reduction="none")
            return bits.mean(-1) + lost, one
        if self.kind == "ce":
            return functional.cross_entropy(self._scores(z), level, reduction="none") + lost, one
        if self.kind == "soft":
            scores, p = self._scores(z), self.target(at.to(z.dtype))
            masked = scores.isneginf()
            p = p.masked_fill(masked, 0.0)
            return -(p * scores.log_softmax(-1).masked_fill(masked, 0.0)).sum(-1) / p.sum(-1), one
        if self.kind == "corn":
            k = torch.arange(self.levels - 1, device=z.device)
            asked = (level[:, None] >= k).to(z.dtype)
            above = (level[:, None] > k).to(z.dtype)
            terms = functional.binary_cross_entropy_with_logits(_finite(z), above, weight=asked, reduction="none")
            return terms.sum(-1) + lost, asked.sum(-1)
        found = self._found(z, "mean")
        if self.circular:  # the shorter way
            off = found - y
            found, y = off - self.levels * (off / self.levels).detach().round(), torch.zeros_like(y) + lost
        if self.kind == "l1":
            return functional.l1_loss(found, y, reduction="none"), one
        squared = functional.huber_loss if self.kind == "huber" else functional.mse_loss
        return squared(found, y, reduction="none"), one

    def _rows(self, at: Tensor) -> Tensor:
        """The levels nearest to labels in levels; those beyond the ends are of the end levels, or go round the circle."""
        level = (at + 0.5).floor().long()
        return level.remainder(self.levels) if self.circular else level.clamp(0, self.levels - 1)

    def bound(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """A bound of the mean |answer − level| in levels, with gradients, where the answer is the most probable level (``map``).

        It holds whatever the dependence of the bits: (1/ln 2) Σ_k w[n, k] ln(1 + exp(−u_k)), with the margins u_k = z_k of a bit that
        is 1 and −z_k of one that is 0, and w[n, k] the largest |m − n| of a level m with another bit k, over the number of bits in
        which the words of n and m differ. For ``unary``, w is 1: the mean error in levels is at most the summed BCE in bits.
        """
        if not self.coded or bool(((self.matrix != 0) & (self.matrix != 1)).any()):
            raise Error("bound is for a code of bits")
        z = self._wide(outputs)
        with torch.autocast(z.device.type, enabled=False):
            y = self._level(labels, z.device)
            level = self._rows(self._index(y))
            if self._loss_weights is None:
                places = self._places(z.double().cpu()) if self.uneven else torch.arange(self.levels)
                c, apart = self.matrix.cpu(), (places[:, None] - places[None, :]).abs()
                if self.circular:
                    apart = torch.minimum(apart, self.levels - apart)
                of = [((c != word) * (apart[n] / (c != word).sum(1).clamp(min=1))[:, None]).amax(0) for n, word in enumerate(c)]
                self._loss_weights = torch.stack(of)
            margins = torch.where(self.matrix.to(z.device)[level] > 0, z, -z)
            return (self._loss_weights.to(z)[level] * functional.softplus(-margins)).sum(-1).add((y - y).to(z.dtype)).mean() / math.log(
                2
            )

    def target(self, level: Tensor) -> Tensor:
        """The distributions of ``soft``, (..., L), around real levels from 0, of shape (...). Each sums to 1."""
        _tensor(level, "level")
        level = level if level.dtype in (torch.float32, torch.float64) else level.float()
        n = torch.arange(self.levels + 1, dtype=level.dtype, device=level.device)
        if self.circular:
            return self._wrapped(level[..., None])
        if self.sigma > 100:  # the bins are as good as equal, and differences of sums would be roundings
            d = (n[:-1] - level[..., None]) / self.sigma
            return (d**2 * (1 / 24 / self.sigma / self.sigma - 0.5)).softmax(-1)
        # Narrower than a label of float64 tells, all are a step.
        below = torch.special.ndtr((n - 0.5 - level[..., None]) / max(self.sigma, 1e-12))
        out: Tensor = below.diff() / (below[..., -1:] - below[..., :1])
        return out

    def _wrapped(self, level: Tensor) -> Tensor:
        """The distributions of ``soft``, round the circle: sums over all images of a bin."""
        if self.sigma > 1.5 * self.levels:  # even, to the last digit
            return (level - level) + torch.full((self.levels,), 1 / self.levels, dtype=level.dtype, device=level.device)
        level = level.remainder(self.levels)
        far = math.ceil(9 * self.sigma / self.levels) + 1
        n = torch.arange(-far * self.levels, (far + 1) * self.levels + 1, dtype=level.dtype, device=level.device)
        if self.sigma > 100:
            d = (n[:-1] - level) / self.sigma
            p = (d**2 * (1 / 24 / self.sigma / self.sigma - 0.5)).softmax(-1)
        else:
            d = (n - 0.5 - level) / max(self.sigma, 1e-12)
            p = torch.where(d[..., :-1] > 0, torch.special.ndtr(-d).diff().neg(), torch.special.ndtr(d).diff())
            p = p / p.sum(-1, keepdim=True)
        out: Tensor = p.reshape(*p.shape[:-1], 2 * far + 1, self.levels).sum(-2)
        return out

    def predict(self, outputs: Tensor, output_type: _codes.Output = "mean", quantiles: Sequence[float] = _codes.QUANTILES) -> Any:
        """Labels, (...), by the ``probabilities`` of the levels: their ``mean``, ``median`` or ``mode``.

        ``quantiles`` is a list of these, and ``full`` a dictionary of all, with the ``probabilities`` and the ``values`` of the levels.
        They are the network's own probabilities, which nothing calibrates; those of ``belsim.fit(…, fit_decoder=True).decoder`` are.
        """
        if self.circular:
            raise Error(_codes.NO_SUMMARY)
        z = self._wide(outputs)
        p = self.probabilities(z if z.device.type == "mps" else z.double())
        n, (lo, hi) = torch.arange(self.levels, dtype=p.dtype, device=p.device), self.range
        return _codes.summary(p, self._values(p) if self.uneven else lo + n * ((hi - lo) / (self.levels - 1)), output_type, quantiles)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """The distributions over the levels, (..., L), that outputs, (..., ``Head.outputs``), stand for.

        Of ``bce`` with a unary code it is that of P(label > level), the sigmoids of the bits, which isotonic regression makes descend.
        """
        if self.kind != "bce" or not self.unary:
            return self._posterior(outputs)
        z = self._wide(outputs)
        with torch.autocast(z.device.type, enabled=False):
            above = _descending((z if z.device.type == "mps" else z.double()).sigmoid())
            return (functional.pad(above, (1, 0), value=1.0) - functional.pad(above, (0, 1))).clamp(min=0).to(z.dtype)

    def _posterior(self, outputs: Tensor) -> Tensor:
        """The softmax of the correlations with the code words, or CORN's."""
        if not (self.coded or self.kind == "corn"):
            raise Error(f"{self.kind} without a code has no distribution over the levels")
        z = self._wide(outputs)
        with torch.autocast(z.device.type, enabled=False):
            if self.coded:
                return torch.softmax(self._scores(z), -1)
            above = functional.logsigmoid(z).cumsum(-1).exp()
            return functional.pad(above, (1, 0), value=1.0) - functional.pad(above, (0, 1))  # ONNX has no diff

    def decode(self, outputs: Tensor, rule: Rule = "mean") -> Tensor:
        """The labels, (...), of outputs, (..., ``Head.outputs``), within the range, with gradients except for ``map``.

        ``rule`` says what is taken of softmax(Z Cᵀ), or of CORN's distribution: its ``mean`` (the decoder ``gen-ex``), the most
        probable level (``map``), or the ``median``, where the probability of a level is spread evenly over its bin. The rank of CORN is
        the median, rounded to a level. A single output is the label.
        """
        z = self._wide(outputs)
        self._suspect(z)
        with torch.autocast(z.device.type, enabled=False):
            z = z if z.device.type == "mps" else z.double()
            lo, hi = self.range
            if self.uneven:
                return self._found(z, rule, self._values(z)).clamp(lo, hi)
            if self.circular:
                label = lo + self._found(z, rule).remainder(self.levels) * ((hi - lo) / self.levels)
                return torch.where(label >= hi, lo, label)
            at = self._found(z, rule).clamp(0, self.levels - 1)
            return lo + at * ((hi - lo) / (self.levels - 1))

    def forward(self, outputs: Tensor) -> Tensor:
        """The labels of ``decode``, so that a head can end a network: ``nn.Sequential(net, head)``."""
        return self.decode(outputs)

    def _told(self) -> dict[str, Any]:
        """What ``belsim.fit`` needs to know of a network with this head."""
        told: dict[str, Any] = {"levels": self.levels, "range": self.range, "outside": self.outside, "training": "auto",
                                "circular": self.circular}  # fmt: skip
        if self.uneven:
            told["range"] = self._values(self._given["values"].double()).numpy()
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

    def _suspect(self, z: Tensor) -> None:
        """Warns where the first outputs are probabilities, not logits: each row sums to 1, or all bits are from 0 to 1.

        What is compiled, traced, mapped or captured cannot look.
        """
        if not (self.coded or self.kind == "corn") or torch.compiler.is_compiling() or torch.jit.is_tracing():
            return
        with suppress(Exception), torch.no_grad():
            z = z.detach()
            if z.is_cuda and torch.cuda.is_current_stream_capturing():
                return
            some = z.reshape(-1, self.outputs)[:64].cpu().double().numpy()
            wrong = _codes.softmaxed(some, "probabilities") or _codes.softmaxed(some, "logits")
            if "exponentials" in wrong and self.coded and _codes.one_hot(self.matrix.cpu().numpy().astype(np.int32)):
                return  # the logarithms of probabilities are logits of a softmax
            if wrong:
                warn(f"{wrong}; a Head wants logits")
            elif some.size >= 64 and self.kind in ("bce", "corn") and (some >= 0).all() and (some <= 1).all() and (some > 0).any():
                warn("outputs: all are from 0 to 1, as after a sigmoid: a Head wants logits")

    def _scores(self, z: Tensor) -> Tensor:
        scores = _finite(z) @ self.matrix.to(z.dtype).T
        return scores.masked_fill(scores < -MASKED / 2, -math.inf)

    def _values(self, like: Tensor) -> Tensor:
        """The label of each level."""
        parts: Tensor = self.values.to(like)
        return parts.flip(0).sum(0) * 2.0**self._exponent

    def _places(self, like: Tensor) -> Tensor:
        """The same in mean widths of a level, from 0."""
        v, (lo, hi) = self._values(like), self.range
        return (v - lo) * ((self.levels - 1) / (hi - lo))

    def _index(self, y: Tensor) -> Tensor:
        """The level, from 0, that each place of ``_level`` has, in proportion between two levels."""
        if not self.uneven:
            return y
        v = self._places(y)
        at = torch.searchsorted(v, y.contiguous()).clamp(1, self.levels - 1)
        return at - 1 + (y - v[at - 1]) / (v[at] - v[at - 1])

    def _found(self, z: Tensor, rule: str, values: Tensor | None = None) -> Tensor:
        """Levels from 0, in mean widths; or ``values`` of levels."""
        choice(rule, Rule, "rule")
        if not (self.coded or self.kind == "corn"):
            at = (z[..., 0] + 1) * (self._steps / 2) + (z - z)[..., 0]  # NaN for ±∞, which has no nearest label
            if values is None:
                return at
            lo, hi = self.range
            return lo + at * ((hi - lo) / (self.levels - 1))
        p = self._posterior(z)
        n = torch.arange(self.levels, dtype=p.dtype, device=p.device)
        v = values if values is not None else self._places(p) if self.uneven else n
        if rule == "mean":
            return _direction(p) if self.circular else p @ v
        if rule == "median" and self.circular:
            return _nearest(p).to(p) + (p - p).sum(-1)
        if rule == "map":
            return v[p.argmax(-1)] + (p - p).sum(-1)  # 0, or NaN where an output is
        upto = p.cumsum(-1)
        at = (upto < upto[..., -1:] / 2).sum(-1, keepdim=True).clamp(max=self.levels - 1)
        share, end = p.gather(-1, at), upto.gather(-1, at)
        level = (at + 0.5 - (end - upto[..., -1:] / 2) / share)[..., 0].clamp(0, self.levels - 1)
        at = level.detach().floor().long().clamp(0, self.levels - 2)  # also of NaN
        return v[at] + (level - at) * (v[at + 1] - v[at])

    def _level(self, target: Tensor, device: torch.device) -> Tensor:
        """Real levels from 0 of labels, in mean widths and in float64, which some devices do not have."""
        y = target.to("cpu" if device.type == "mps" else device).double()
        lo, hi = self.range
        if self.circular:
            if self.outside == "refuse" and not bool(y.isfinite().all()):
                _codes.finite(y.cpu().numpy(), "labels")  # says which
            level = ((y - lo) * (self.levels / (hi - lo))).remainder(self.levels)
            return level.float().to(device) if device.type == "mps" else level
        if self.outside == "refuse":
            slack = max(1e-6, torch.finfo(target.dtype).eps if target.is_floating_point() else 0) * max(hi - lo, abs(lo), abs(hi))
            if not bool(((y >= lo - slack) & (y <= hi + slack)).all()):
                _codes.within(y, self.range, "refuse", "labels")  # says which
        level = ((y - lo) * ((self.levels - 1) / (hi - lo))).clamp(0, self.levels - 1)
        return level.float().to(device) if device.type == "mps" else level


def _direction(p: Tensor) -> Tensor:
    """The direction of the mean vector of distributions, (..., L), from 0 to below L; 0 where it is zero, but for rounding."""
    levels = p.shape[-1]
    angle = torch.arange(levels, dtype=p.dtype, device=p.device) * (2 * math.pi / levels)
    x, y = p @ angle.cos(), p @ angle.sin()
    none = torch.hypot(x.detach(), y.detach()) <= (1e-12 if p.dtype == torch.float64 else 1e-6)
    at = torch.atan2(y.masked_fill(none, 0.0), x.masked_fill(none, 1.0)).remainder(2 * math.pi) * (levels / (2 * math.pi))
    return torch.where(at >= levels, at - levels, at)


def _nearest(p: Tensor) -> Tensor:
    """The first level from which the mean distance along the circle is smallest: of distributions (..., L)."""
    levels = p.shape[-1]
    d = torch.arange(levels, device=p.device)
    d = (d[:, None] - d).remainder(levels)
    off = p @ torch.minimum(d, levels - d).to(p)
    return (off <= off.min(-1, keepdim=True).values + 1e-9).to(torch.int8).argmax(-1)


def _widest(t: Tensor) -> Tensor:
    """Numbers in float64, which some devices do not have."""
    return t.float() if t.device.type == "mps" else t.double()


def _finite(z: Tensor) -> Tensor:
    """Outputs with a large number for −∞, whose product with a bit of 0 is 0."""
    return z.clamp(min=-MASKED)


def _descending(v: Tensor) -> Tensor:
    """Isotonic regression: the nearest numbers that do not ascend, as min over i ≤ k of max over j ≥ k of the mean of v_i … v_j."""
    at = torch.arange(v.shape[-1], device=v.device)
    sums, size = functional.pad(v.cumsum(-1), (1, 0)), at[None, :] - at[:, None] + 1
    means = (sums[..., None, 1:] - sums[..., :-1, None]) / size.clamp(min=1)
    most = means.masked_fill(size < 1, -math.inf).flip(-1).cummax(-1).values.flip(-1)
    return most.masked_fill(size < 1, math.inf).amin(-2)


def _tensor(value: object, name: str, columns: int | None = None) -> None:
    """Refuses what is no dense tensor of real numbers, with a last dimension of so many columns."""
    want = "(...)" if columns is None else f"(..., {columns})"
    if not isinstance(value, Tensor):
        raise Error(f"{name} = {shown(value)}: want a tensor {want}")
    if value.is_complex() or value.is_nested or value.layout != torch.strided or value.is_quantized or value.device.type == "meta":
        raise Error(f"{name}: want a dense tensor of real numbers, which has values")
    if columns is not None and value.dtype == torch.uint8 and not torch.compiler.is_compiling():
        with suppress(RuntimeError):  # traced, or mapped
            _codes.unsigned(value.cpu().numpy())
    if columns is not None and not torch.jit.is_tracing() and value.shape[-1:] != (columns,):
        raise Error(f"{name} of shape {tuple(value.shape)}: want a tensor {want}")


class Decoder(_Exact):
    """A decoder that ``fit`` fitted, as a module: outputs, (..., M), to labels, (...). It computes in float64, without
    gradients, in a network of any precision.

    ``fitted`` is ``fit(...).decoder``, or the path of its .npz file. Outputs are logits, also where the decoder reads their signs only.

    >>> import belsim, numpy as np, torch
    >>> from belsim.torch import Decoder
    >>> level = np.arange(2000) % 16
    >>> seen = np.clip(level + np.random.default_rng(1).integers(-1, 2, 2000), 0, 15)
    >>> logits = 4.0 * belsim.code("johnson", 16)[seen] - 2
    >>> fitted = belsim.fit("johnson", logits, level, levels=16, fit_decoder=True).decoder
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
                self._keep(name, np.asarray(arrays[name], np.float64), torch.float64)
            if self.weights.ndim != 2 or self.offsets.shape != self.values.shape or self.offsets.shape != self.weights.shape[:1]:
                raise ValueError("weights (L, M), offsets (L,) and values (L,)")
            self._keep("residuals", np.asarray(arrays["residuals"], np.float64), torch.float64, persistent=False)
            self.floor = float(np.ravel(arrays["floor"])[0])
            self.sorted = str(arrays["sigmas"][0]) == "sorted sigmoids"
        self.circular, self.power = bool(fitted.about.get("circular", False)), float(fitted.about.get("power", 1))
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

    def predict(self, outputs: Tensor, output_type: _codes.Output | None = None, quantiles: Sequence[float] = _codes.QUANTILES) -> Any:
        """The labels, or what ``output_type`` says of the probabilities of the levels, as ``belsim.Decoder.predict``."""
        if output_type is None:
            return self(outputs)
        if self.circular:
            raise Error(_codes.NO_SUMMARY)
        p = (self._read(outputs)[1].log() * self.power).softmax(-1)
        return _codes.summary(p, self.values.double(), output_type, quantiles)

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
                p = functional.pad(above, (1, 0), value=1.0) - functional.pad(above, (0, 1))
            width = functional.pad((v[2:] - v[:-2]) / 2, (1, 1))
            width[0], width[-1] = v[1] - v[0], v[-1] - v[-2]
            ends = torch.stack((q[n - rank].clamp(max=0), q[rank - 1].clamp(min=0)))  # an interval holds its own label
            if self.circular:
                around = len(v) * (v[1] - v[0])
                off = v - self._mean(p)[..., None]
                off = off - around * (off / around).round()
                sigma = ((p * off**2).sum(-1) + self.floor * (p @ (width**2 / 12))).sqrt()
                return label[..., None] + (ends * sigma[..., None]).clamp(-around / 2, around / 2)
            variance = (p * (v - (p @ v)[..., None]) ** 2).sum(-1) + self.floor * (p @ (width**2 / 12))
            return (label[..., None] + ends * variance.sqrt()[..., None]).clamp(v[0], v[-1])

    def _read(self, outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The labels, the probabilities of the levels, and what was read."""
        _tensor(outputs, "outputs", self.weights.shape[1])
        with torch.no_grad(), torch.autocast(outputs.device.type, enabled=False):
            z = outputs.double()
            lost = z.isnan().any(-1, keepdim=True)  # which a sign hides
            if self.reads == "bits":
                z = torch.where(z > 0, 1.0, -1.0).double()
            s = _finite(z) @ self.weights.double().T + self.offsets.double()
            s = s.masked_fill(s < -1e-9 * MASKED, -math.inf)
            p = s.softmax(-1).masked_fill(lost, math.nan)
            if self.rule == "mean":
                return self._mean(p), p, z
            median = _nearest(p) if self.circular else (p.cumsum(-1) < 0.5 - 1e-9).sum(-1)
            label = self.values.double()[s.argmax(-1) if self.rule == "map" else median]
            return label + (p - p).sum(-1), p, z  # NaN where p is

    def _mean(self, p: Tensor) -> Tensor:
        """The mean label of distributions, on a circle its direction."""
        v = self.values.double()
        if not self.circular:
            return p @ v
        return v[0] + _direction(p) * (v[1] - v[0])
