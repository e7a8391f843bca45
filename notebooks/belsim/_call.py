"""Calls of the command: arguments, arrays, progress, errors."""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import io
import json
import math
import numbers
import operator
import os
import re
import secrets
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import IO, Any, NoReturn, TypeVar, cast, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

SMALL = 1 << 20
"""Bytes: an array up to this size goes through standard input, a larger one through a file."""


class Short(type):
    """Classes whose ``help`` leaves out what others wrote, such as the many methods of ``nn.Module``, and what only Python calls."""

    def __dir__(cls) -> list[str]:
        own = {name for base in cls.__mro__ if base.__module__.startswith("belsim.") for name in vars(base)}
        return sorted(name for name in own if not name.startswith("_") and "extra" not in name)


class Error(Exception, metaclass=Short):
    """A refusal or a failure of belsim. Its text is the command's message, which counts from 0 here.

    ``exit_code`` is the command's: 2 for bad input, 3 where the machine cannot do it.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(" ".join(message.splitlines()))
        self.exit_code = exit_code

    def __str__(self) -> str:
        return printable(super().__str__(), sys.stderr)


Error.__module__ = "belsim"  # as tracebacks name it

_ASCII = {
    "−": "-", "–": "-", "×": "x", "±": "+-", "…": "...", "≤": "<=", "≥": ">=", "≈": "~", "·": "*", "√": "sqrt", "∞": "inf",
    "²": "^2", "₀": "_0", "ᵀ": "^T", "½": "1/2", "σ": "sigma", "κ": "kappa", "τ": "tau", "ρ": "rho", "α": "alpha", "λ": "lambda",
    "μ": "mu", "δ": "delta", "Δ": "Delta", "→": "->", "é": "e", "“": '"', "”": '"', "’": "'", "\u202f": " ", "\xa0": " ",
}  # fmt: skip


def ascii_of(c: str) -> str:
    """A sign in ASCII."""
    return c if c.isascii() else _ASCII.get(c, "?")


def printable(text: str, stream: Any = None) -> str:
    """A text that the terminal can show: where its encoding lacks a sign, in ASCII."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"

    def sign(c: str) -> str:
        try:
            c.encode(encoding)
        except UnicodeError:
            return ascii_of(c)
        except LookupError:  # no encoding of Python
            pass
        return c

    return text if text.isascii() else "".join(map(sign, text))


def warn(text: str) -> None:
    """Warns of what a call of this package does, at the line that called it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("belsim."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def shown(value: object) -> str:
    """A value in a message: a short text, or its type."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of a class of one's own
        text = ""
    return text if text and len(text) <= 80 and " at 0x" not in text else f"a value of type {type(value).__name__}"


def reason(error: BaseException) -> str:
    """What an error says, on one short line: messages of libraries may go on with a trace."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else "")
    text = str(error).strip() or type(error).__name__
    return "a value of a wrong type" if "__(" in text else text.splitlines()[0][:200]


@contextmanager
def refusing(what: str, exit_code: int = 2) -> Iterator[None]:
    """Makes a belsim.Error of an error of code that is not belsim's, such as NumPy's, torch's or a class of one's own."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        raise Error(f"{what}: {reason(error)}", exit_code) from error


def executable() -> str:
    """The path of the command that this package carries.

    In a checkout, where Python finds the package's source before the installed one, it is the installed one's.
    """
    name = "belsim.exe" if os.name == "nt" else "belsim"
    path = Path(__file__).parent / "bin" / name
    if path.exists():
        return str(path)
    with suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("belsim") or []:
            if file.parts[-3:] == ("belsim", "bin", name):
                return str(file.locate())
    raise Error(f"{path} is missing: install the package with 'pip install .' in notebooks/", 3)


def array(values: ArrayLike, name: str = "array") -> NDArray[Any]:
    """A NumPy array of what has ``__array__``: also of a torch.Tensor that needs its gradient or is on a device.

    ``name`` is the array's in messages. Masked values, sparse and ragged arrays are refused.
    """
    with refusing(f"{name}: no array of numbers"):
        if hasattr(values, "detach"):
            tensor = cast("Any", values).detach().cpu().resolve_conj().resolve_neg()
            narrow = tensor.is_floating_point() and (tensor.element_size() < 2 or str(tensor.dtype) == "torch.bfloat16")
            values = tensor.float() if narrow else tensor  # NumPy does not know these types
        if hasattr(values, "nnz") or "sparse" in str(getattr(values, "layout", "")):
            raise Error(f"{name}: a sparse array; want a dense one")
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            masked = np.ma.getmaskarray(values)
            first = ", ".join(str(i) for i in np.argwhere(masked)[0])
            share = f"{masked.sum()} of {masked.size} values are masked (first: index {first})"
            raise Error(f"{name}: {share}; fill them, or leave them out")
        if isinstance(values, (list, tuple)) and any(np.ma.is_masked(v) for v in values):
            raise Error(f"{name}: some values are masked; fill them, or leave them out")
        out = np.asarray(values)
    if isinstance(values, (list, tuple)) and out.dtype.kind in "iuf" and _types(values) & {bool, np.bool_}:
        raise Error(f"{name}: a bool among numbers; want numbers alone, or bools alone")
    if out.dtype.kind == "V" and re.fullmatch(r"b?float\d+\w*", out.dtype.name):  # of ml_dtypes
        out = out.astype(np.float32)
    if out.dtype.kind == "O":
        out = _numbers(out, name)
    if out.dtype.kind not in "biuf":
        what = {"U": "texts", "S": "texts"}.get(out.dtype.kind, out.dtype)
        raise Error(f"{name} of {what}: want bools, integers or floats")
    if out.dtype.kind == "f" and out.dtype.itemsize not in (2, 4, 8):
        with np.errstate(over="ignore"):
            out = out.astype(np.float64)
    return out


def _types(values: Iterable[Any]) -> set[type]:
    """The types of the elements of nested lists."""
    types = set(map(type, values))
    return types.union(*(_types(v) for v in values if isinstance(v, (list, tuple)))) if types & {list, tuple} else types


def _numbers(objects: NDArray[Any], name: str) -> NDArray[Any]:
    """The numbers of a column that pandas keeps as objects, such as a nullable one."""
    for place, value in np.ndenumerate(objects):
        if not isinstance(value, (numbers.Real, np.bool_)):
            at = f" at index {', '.join(map(str, place))}" if place else ""
            raise Error(f"{name} of objects: {shown(value)}{at} is no number; leave it out, or fill it, and take astype(float)")
    if len(types := _types(objects.flat)) > 1 and types & {bool, np.bool_}:
        raise Error(f"{name} of objects: a bool among numbers; want numbers alone, or bools alone")
    with refusing(name), np.errstate(over="ignore"):
        return objects.astype(np.float64)


def joined(values: Any, name: str, samples: int | None = None) -> Any:
    """Arrays of a list of batches in one array, where their lengths say that they are batches; other values as they are.

    ``samples`` is how many there must be, if that is known.
    """
    if not isinstance(values, (list, tuple)) or not values or not all(getattr(v, "ndim", 0) for v in values):
        return values
    lengths = [len(v) for v in values]
    whole = samples is not None and sum(lengths) == samples
    if not whole and (len(lengths) == samples or (samples is None and values[0].ndim < 2)):
        return values  # a list of samples
    if not whole and (samples is not None or len(set(lengths)) == 1 < len(lengths)):
        raise Error(
            f"{name}: a list of {len(lengths)} arrays of shape {tuple(values[0].shape)}: want one array; torch.cat({name}) joins "
            f"batches, torch.stack({name}, 1) the outputs of one network, torch.stack({name}) samples (NumPy: concatenate, stack)"
        )
    with refusing(f"{name}: a list of arrays"):
        return np.concatenate([array(v, name) for v in values])


def wide(values: ArrayLike, name: str = "array") -> NDArray[np.float64]:
    """An array in float64: what is computed with has this type, for the types of predictions and labels may be too narrow for it."""
    return array(values, name).astype(np.float64)


def scalar(value: object) -> object:
    """A number of Python for one of NumPy or torch, None for a bool, which is no number, and other values as they are."""
    if np.ma.is_masked(value):
        return None
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        with suppress(Exception):  # a tensor without values
            value = cast("Any", value).item()
    return None if isinstance(value, (bool, np.bool_)) else value


def real(value: object) -> float:
    """A number as a float; NaN for what is none, such as a text or a bool."""
    value = scalar(value)
    if isinstance(value, numbers.Real) or hasattr(value, "as_tuple"):  # of decimal
        with suppress(Exception):
            return float(cast("Any", value))
    return math.nan


def number(value: object, name: str) -> float:
    """A positive finite number."""
    out = real(value)
    if not 0 < out < math.inf:
        raise Error(f"{name} = {shown(value)}: want a positive finite number")
    return out


MOST_LEVELS = 1 << 16
"""Of a code, as the command has it."""


def count(value: object, name: str) -> int:
    """A number of levels."""
    try:
        out = operator.index(cast("Any", scalar(value)))
    except Exception:  # of a class of one's own
        raise Error(f"{name} = {shown(value)}: want a whole number") from None
    if not 2 <= out <= MOST_LEVELS:
        raise Error(f"{name} = {shown(value)}: want " + ("2 at least" if out < 2 else f"{MOST_LEVELS} at most"))
    return out


def positions(values: object, name: str, what: str, end: int = 1 << 31) -> list[int]:
    """A list of bits or columns, from 0, as the command counts them: from 1."""
    out = []
    for value in listed(values, name, what):
        at = scalar(value)
        if not isinstance(at, int) or not 0 <= at < end:
            raise Error(f"{name}: {shown(value)}: want {what}" + (f" to {end - 1}" if end < 1 << 31 else ""))
        out.append(at + 1)
    return out


def choice(value: object, choices: Any, name: str) -> None:
    """Refuses what is none of the values of a Literal."""
    if not isinstance(value, str) or value not in get_args(choices):
        raise Error(f"{name} = {shown(value)}: want one of {', '.join(map(repr, get_args(choices)))}")


def listed(values: object, name: str, what: str) -> list[Any]:
    """The elements of a list, a tuple, or what else is a sequence of them; ``what`` says what they are."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) != 1:
        raise Error(f"{name}: want a list of {what}")
    with refusing(f"{name}: want a list of {what}"):
        return list(cast("Iterable[Any]", values))


def path_of(value: object, name: str, what: str = "the path of a file") -> str:
    """The path of a file, as text; ``what`` says what else it may be."""
    path: object = None
    with suppress(Exception):  # of a class of one's own
        path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str):
        raise Error(f"{name} = {shown(value)}: want {what}")
    if "\0" in path:
        raise Error(f"{name} = {shown(path)}: a name that no file can have")
    return path


def write(path: str, fill: Callable[[IO[bytes]], object]) -> None:
    """Writes a file that nobody ever sees half-written, as the command does.

    It is written beside the file that is there, and takes its name and permissions when all is on disk. A link is followed.
    """
    at = Path(os.path.realpath(path))
    temporary = ""
    with refusing(f"cannot write {path}", 3):
        if not at.parent.is_dir():
            raise Error(f"cannot write {path}: there is no folder {at.parent}", 3)
        try:
            old = at.stat() if at.exists() else None
            if old is not None and not stat.S_ISREG(old.st_mode):
                raise Error(f"cannot write {path}: not a regular file", 3)
            if old is not None:
                at.open("r+b").close()  # whether it may be written
            name = at.name.encode()[:64].decode(errors="ignore")
            unplaced = at.with_name(f".{name}.{secrets.token_hex(13)}.tmp")
            # Nobody else opens it before it is like the old one.
            descriptor = os.open(unplaced, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600 if old else 0o666)
            temporary = str(unplaced)
            with os.fdopen(descriptor, "wb") as file:
                if old is not None:
                    _like(temporary, old)
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            unplaced.replace(at)
            temporary = ""
        finally:
            if temporary:
                with suppress(OSError):
                    Path(temporary).unlink()
    if os.name != "nt":
        with suppress(OSError):  # some file systems cannot, and some folders may not be read
            folder = os.open(at.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _like(path: str, old: os.stat_result) -> None:
    """Gives a new file the permissions of an old one, and its owner and group where that is allowed.

    The permissions of a group are not for another one.
    """
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if sys.platform != "win32":
        for owner in (old.st_uid, -1):
            with suppress(OSError):
                os.chown(path, owner, old.st_gid)
                break
        else:
            mode &= mode << 3 | 0o707
    with suppress(OSError):  # some file systems know no permissions
        Path(path).chmod(mode)


class Inputs:
    """The arrays of one call, and its folder of files. Leaving the context removes the folder."""

    def __init__(self) -> None:
        self.stdin: bytes | None = None
        self.call = ""  # what results name as the command that made them
        self.names: dict[str, str] = {}  # of the arrays, by the paths that belsim sees
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def folder(self) -> str:
        """The path of the folder; empty where there is none."""
        return "" if self._folder is None else self._folder.name

    def path(self, name: str) -> Path:
        """The path of a file in the folder."""
        if self._folder is None:
            with refusing("the folder of temporary files", 3):
                self._folder = tempfile.TemporaryDirectory(prefix="belsim-")
                (Path(self._folder.name) / "caller").write_text(str(os.getpid()))  # the command removes no other folder
            if not _plain(self._folder.name):
                raise Error(f"the folder of temporary files has a name that the command cannot read: {self._folder.name!r}", 3)
        return Path(self._folder.name) / name

    def array(self, values: ArrayLike, name: str, *, file: bool = False) -> str:
        """What stands on the command line for an array: ``-``, or a path, which ``file`` asks for.

        ``name`` is the array's in messages and results.
        """
        mapped = _mapped_file(values)
        if mapped is not None and not _plain(mapped):
            link = self.path(f"{len(self.names)}.npy")
            try:
                link.symlink_to(mapped)
                mapped = str(link)
            except OSError:  # some systems have no links: the array is copied
                mapped = None
        if mapped is not None:
            self.names[mapped] = name
            return mapped
        a = array(values, name)
        if self.stdin is None and a.nbytes <= SMALL and not file:
            out = io.BytesIO()
            np.save(out, a)
            self.stdin = out.getvalue()
            self.names["standard input"] = name
            return "-"
        path = self.path(f"{len(self.names)}.npy")
        with refusing(f"{name}: cannot write a temporary file", 3), path.open("wb") as into:
            np.save(cast("Any", SimpleNamespace(write=into.write)), a)  # into a file itself, NumPy loses the end on a full disk unseen
        self.names[str(path)] = name
        return str(path)

    def text(self, content: str, name: str, ending: str) -> str:
        """The path of a file with a text. ``name`` is the file's in messages."""
        file = self.path(f"{len(self.names)}{ending}")
        with refusing(f"{name}: cannot write a temporary file", 3):
            file.write_text(content, encoding="utf-8")
        self.names[str(file)] = name
        return str(file)

    def code(self, code: str | ArrayLike, name: str, *, file: bool = False) -> str:
        """What stands on the command line for a code, a name or an L × M matrix."""
        if isinstance(code, (str, os.PathLike)):
            return path_of(code, name)
        if callable(code) or array(code, name).ndim != 2:
            raise Error(f"{name}: want the name of a code, or an L × M matrix")
        return self.array(code, name, file=file)

    def rename(self, text: str) -> str:
        """A message with the arrays' names for their paths."""
        text = re.sub(r"(^|[ :])-: ", r"\1standard input: ", text)
        for path, name in self.names.items():
            text = re.sub(rf"\breading [a-z ]+: (?={re.escape(path)}: )", "", text).replace(path, name)
        return _as_python(text)

    def renamed(self, value: Any) -> Any:
        """A result with the arrays' names for their paths."""
        if isinstance(value, str):
            return self.names.get(value, value)
        if isinstance(value, list):
            return [self.renamed(v) for v in value]
        if isinstance(value, dict):
            return {k: self.renamed(v) for k, v in value.items()}
        return value


def call_of(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as Python reads it, without defaults: arrays have the names of their arguments. It is empty where values have no text."""

    def short(value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return len(value) < 10 and all(map(short, value))
        return isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= 80)

    told = {k: v for k, v in arguments.items() if v is not None and v is not False and k not in ("progress", "workers")}
    with suppress(ValueError):  # numbers of thousands of digits have no text
        told = {k: f"{v!r}" if short(v) else k for k, v in told.items() if not short(v) or v not in ("auto", "refuse", (), [])}
        return f"belsim.{name}({', '.join(f'{k}={v}' for k, v in told.items())})"
    return ""


def _plain(path: str) -> bool:
    """Whether the command takes a path for what it is."""
    return path.isprintable() and not re.search(r"(?i)\.npz:|\\,", path)


_FLAG = re.compile(r"--([a-z][a-z-]*)(?:[ =]([-+.\d][\w.+-]*))?")
_LONG = re.compile(r'"([^"]{80})[^"]+"')
_HELP = re.compile(r"; see belsim[a-z ]* --help")


def _as_python(text: str) -> str:
    """A message with arguments for flags."""
    return _FLAG.sub(lambda m: m[1].replace("-", "_") + (f"={m[2]}" if m[2] else ""), _HELP.sub("", _LONG.sub(r'"\1…"', text)))


def _mapped_file(values: object) -> str | None:
    """The .npy file that an array is all of, as ``numpy.load(path, mmap_mode="r")`` returns it: belsim reads it in place.

    The name may stand for another file by now, so its values are compared.
    """
    if not isinstance(values, np.memmap) or values.mode != "r" or not str(values.filename).endswith(".npy"):
        return None
    try:
        whole = np.load(str(values.filename), mmap_mode="r")
    except (OSError, ValueError):
        return None
    if whole.shape != values.shape or whole.dtype != values.dtype or whole.strides != values.strides:
        return None
    rows = max(1, (1 << 24) * len(whole) // max(whole.nbytes, 1))  # at a time: the array may be larger than the memory
    if any(whole[i : i + rows].tobytes() != values[i : i + rows].tobytes() for i in range(0, len(whole), rows)):
        return None
    return str(values.filename)


SWITCHES = frozenset(("circular", "exact", "fit_decoder", "quiet", "random", "repeat"))
"""The flags without a value."""


def word(value: object, name: str) -> str:
    """A number or a text as the command line has it."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise Error(f"{name}: a value that is masked; want a number or a text")
    plain = scalar(value)
    if isinstance(plain, (str, os.PathLike)):
        return path_of(plain, name)
    with suppress(Exception):  # an integer of too many digits, and classes of one's own
        if isinstance(plain, numbers.Integral):
            return str(int(plain))
        if isinstance(plain, numbers.Real) or hasattr(plain, "as_tuple"):
            return repr(float(cast("Any", plain)))
    raise Error(f"{name} = {shown(value)}: want a number or a text")


def switch(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{name} = {shown(value)}: want True or False")
    return bool(value)


def flags(**values: object) -> list[str]:
    """Flags for arguments: none for None; comma-separated values for a list."""
    out = []
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if name in SWITCHES:
            out += [flag] * switch(value, name)
        elif value is None:
            continue
        elif isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
            out.append(f"{flag}={','.join(word(v, name) for v in listed(value, name, 'numbers or texts'))}")
        else:
            out.append(f"{flag}={word(value, name)}")
    return out


def span(values: Sequence[Any] | NDArray[Any] | None, name: str) -> str | None:
    """A range of the command line: ``lo:hi:count`` or ``lo:hi:count:log`` from such a tuple, or the numbers of a list."""
    if values is None:
        return None
    try:
        parts = listed(values, name, "numbers")
    except Error:
        parts = []
    scale = parts[3:] if isinstance(values, tuple) else []
    words = [word(v, name) for v in parts[: len(parts) - len(scale)] if not math.isnan(real(v))]
    if parts and len(words) + len(scale) == len(parts) and all(isinstance(v, str) and v == "log" for v in scale):
        if not isinstance(values, tuple):
            return ",".join(words)
        if len(words) == 3 and len(scale) < 2:
            return ":".join([*words, *scale])
    raise Error(f"{name} = {shown(values)}: want (lo, hi, count), (lo, hi, count, 'log'), or a list of numbers")


def ends(inputs: Inputs, labels: ArrayLike | None) -> str | None:
    """The labels of the first and the last level, ``a:b``, or the file of the label of each level."""
    if labels is None:
        return None
    return ":".join(map(repr, pair(labels))) if several(labels) is None else inputs.array(labels, "range", file=True)


def several(labels: ArrayLike) -> NDArray[np.float64] | None:
    """The label of each level, where these are more than the two ends of a range."""
    try:
        v = array(labels, "range")
    except Error:
        if "mask" in type(labels).__name__.lower():
            raise
        return None
    if v.ndim != 1 or v.size < 3:
        return None
    v = v.astype(np.float64)
    if not (np.isfinite(v).all() and (np.diff(v) > 0).all() and math.isfinite(v[-1] - v[0])):
        raise Error(f"range of {v.size} labels: want finite numbers that ascend")
    return v


def pair(labels: ArrayLike) -> tuple[float, float]:
    """A range of labels as two numbers: its ends."""
    values = several(labels)
    if values is not None:
        return float(values[0]), float(values[-1])
    try:
        lo, hi = (real(label) for label in listed(labels, "range", "labels"))
    except (Error, ValueError):
        lo, hi = math.nan, math.nan
    if math.isnan(lo) or math.isnan(hi):
        nested = isinstance(labels, (list, tuple)) and any(isinstance(label, (list, tuple)) for label in labels)
        want = "want (a, b), the labels of the first and the last level, or the label of each level"
        more = "; for several outputs make a Head for each range, and give fit a list of heads" * nested
        raise Error(f"range = {shown(labels)}: {want}{more}")
    if not (lo < hi and math.isfinite(hi - lo)):
        raise Error(f"range = ({lo:g}, {hi:g}): want finite numbers, the smaller first")
    return lo, hi


def prior_of(inputs: Inputs, prior: ArrayLike, levels: object) -> tuple[int, str]:
    """The number of levels and the file of a prior, the count or weight of each level.

    With the number of levels, codes of another number are refused.
    """
    counts = array(prior, "prior")
    if counts.ndim != 1:
        raise Error(f"prior of {counts.ndim} dimensions: want the count of each level, of shape (L,)")
    if (counts < 0).any():
        at = int(np.argmax(counts < 0))
        raise Error(f"prior[{at}] = {counts[at]:g}: want a number of 0 or more")
    if levels is not None and count(levels, "levels") != len(counts):
        raise Error(f"prior of {len(counts)} counts: want {levels}, one for each level")
    if not np.isfinite(counts).all():
        raise Error("prior: want finite numbers")
    lines = "".join(f"{n},{many!r}\n" for n, many in enumerate(counts.astype(np.float64).tolist()))
    return len(counts), inputs.text("label,count\n" + lines, "prior", ".csv")


_PROGRESS = re.compile(r"^belsim: (.+?): (\d+)(?: of (\d+) \(\d+ %\)| s)?(?:, (.*))?$")  # the total may be unknown


_CRASH = re.compile(r"(fatal error|panic|runtime|runtime/cgo): ")  # of the runtime of Go


class _Bar:
    """A bar of tqdm, made when there is progress to show. Without tqdm it is a line of text, written again and again."""

    def __init__(self, show: bool | None) -> None:
        self.wanted = sys.stderr.isatty() or "ipykernel" in sys.modules if show is None else switch(show, "progress")
        self._plain = importlib.util.find_spec("tqdm") is None
        self._written = 0  # letters of the line of text
        self._bar: Any = None

    def line(self, what: str, done: int, total: int | None, note: str | None) -> None:
        if not self.wanted:
            return
        if self._plain:
            text = what if total is None else f"{what} {done} of {total} ({100 * done // max(1, total)} %)"
            self._write(f"{text}, {note}" if note else text)
            return
        if self._bar is None or self._bar.desc != what or self._bar.total != total:
            from tqdm.auto import tqdm

            self.close()
            layout = "{desc} {elapsed}{postfix}" if total is None else None
            self._bar = tqdm(total=total, desc=what, unit_scale=True, leave=False, bar_format=layout)
            self._bar.desc = what  # without tqdm's colon
        self._bar.update(done - self._bar.n)
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._written:
            self._write("")

    def _write(self, text: str) -> None:
        """Puts a text in the place of the one before."""
        with suppress(OSError, ValueError):
            sys.stderr.write("\r" + text.ljust(self._written) + "\r" * (not text))
            sys.stderr.flush()
        self._written = len(text)


def run(args: Iterable[str], inputs: Inputs, *, progress: bool | None = None, may_fail: bool = False) -> str:
    """Runs the command and returns its standard output.

    Raises Error with its message, and stops it when the call is interrupted. A note becomes a warning. may_fail: the
    exit code 1, a failed verification, is no error.
    """
    bar = _Bar(progress)
    environment = dict(os.environ)
    if bar.wanted:
        environment.setdefault("BELSIM_PROGRESS", "500ms")
    environment["BELSIM_CALLER"] = f"{os.getpid()}:{inputs.folder}"  # it ends, and removes the folder, when this process is killed
    if inputs.call and _plain(inputs.call):
        environment["BELSIM_CALL"] = inputs.call
    path = executable()
    try:
        process = subprocess.Popen(
            [path, *args],
            stdin=subprocess.DEVNULL if inputs.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
    except ValueError as error:  # a NUL, or half of a surrogate pair, in a name
        raise Error(f"a name that no file can have: {error}") from error
    except OSError as error:
        _broken(path, error)
    out: list[bytes] = []
    threads = [threading.Thread(target=lambda: out.append(cast("IO[bytes]", process.stdout).read()), daemon=True)]
    if inputs.stdin is not None:
        threads.append(threading.Thread(target=_feed, args=(process.stdin, inputs.stdin), daemon=True))
    messages = []
    try:
        for thread in threads:
            thread.start()
        for raw in cast("IO[bytes]", process.stderr):
            line = raw.decode("utf-8", "replace").strip()
            matched = _PROGRESS.match(line)
            if matched:
                bar.line(matched[1], int(matched[2]), int(matched[3]) if matched[3] else None, matched[4])
            else:
                messages.append(line)
        status = process.wait()
        for thread in threads:
            thread.join()
    except BaseException:
        _stop(process)
        raise
    finally:
        bar.close()
        for pipe in (process.stdout, process.stderr):
            with suppress(OSError, ValueError):
                cast("IO[bytes]", pipe).close()
    text = out[0].decode("utf-8", "replace")
    notes = [m for m in messages if m.startswith("belsim: note: ")]
    rest = [m for m in messages if m and m not in notes]
    crash = next(filter(_CRASH.match, rest), None)
    if crash is not None:  # a trace follows
        raise Error(f"the command crashed: {inputs.rename(crash)}", 3)
    if status not in ((0, 1) if may_fail else (0,)):
        if rest and rest[0].startswith("belsim: "):
            raise Error(inputs.rename(" ".join(rest).removeprefix("belsim: ")), status)
        how = f"by the signal {-status}" if status < 0 else f"with the exit code {status}"
        raise Error(f"the command {path} ended {how}" + (f": {rest[0][:200]}" if rest else ""), 3)
    for note in notes:
        if "sampling on the CPU" not in note:  # no news for a caller who did not ask for a GPU
            warn(inputs.rename(note.removeprefix("belsim: note: ")))
    return text


def _broken(path: str, error: OSError) -> NoReturn:
    """Says why the command does not run."""
    if error.errno == errno.E2BIG:
        raise Error("the names and values of this call are longer than a command line of this system") from error
    raise Error(f"the command {path} does not run: {error.strerror}; install belsim again, for this system", 3) from error


def become(args: Sequence[str]) -> NoReturn:
    """Becomes the command, for people at a terminal."""
    path = executable()
    try:
        if os.name == "nt":
            sys.exit(subprocess.call([path, *args]))
        os.execv(path, [path, *args])
    except OSError as error:
        _broken(path, error)


def _feed(pipe: IO[bytes], content: bytes) -> None:
    with suppress(BrokenPipeError, OSError), pipe:  # belsim may end before it has read everything
        pipe.write(content)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupts the command, which ends within about a second, or else kills it."""
    with suppress(OSError):
        process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


T = TypeVar("T")


def answered(read: Callable[[], T]) -> T:
    """What the command has answered. Where that cannot be read, the command is not the one of this package."""
    try:
        return read()
    except (ArithmeticError, AttributeError, EOFError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        raise Error(f"the command {executable()} gave no answer that this version reads; install belsim again", 3) from error


def results(
    args: Iterable[str], inputs: Inputs, make: Callable[[dict[str, Any]], T], *, progress: bool | None = None, may_fail: bool = False
) -> T:
    """Runs the command, and returns what is made of its JSON with levels and bits from 0."""
    command, *rest = args
    text = run([command, "--format=json", *rest], inputs, progress=progress, may_fail=may_fail)
    return answered(lambda: make(cast("dict[str, Any]", inputs.renamed(from_zero(json.loads(text))))))


def rows(name: str) -> Callable[[dict[str, Any]], pd.DataFrame]:
    """Makes a table of the rows in a result, and its attributes of the rest."""
    return lambda result: table(result.pop(name), **result)


_POSITIONS = ("level", "output", "bit", "last_level", "worst_level", "dead_bits", "rate_levels", "curve_levels", "order")
_SENTENCES = ("failures", "notes", "verdict", "warning")


def from_zero(value: Any) -> Any:
    """JSON of belsim with levels and bits counted from 0, and ``reads`` for what decoders read."""
    if isinstance(value, list):
        return [from_zero(v) for v in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for name, v in value.items():
        if name == "outputs":
            out["reads"] = v  # what a decoder reads: the outputs of a network are the arrays here
        elif name in _POSITIONS and v is not None:
            out[name] = [k - 1 for k in v] if isinstance(v, list) else v - 1
        elif name in _SENTENCES and isinstance(v, (str, list)):
            out[name] = printable(v) if isinstance(v, str) else [printable(text) for text in v]
        else:
            out[name] = from_zero(v)
    return out


def table(rows: Sequence[Mapping[str, Any]] | None, **about: Any) -> pd.DataFrame:
    """A DataFrame of rows of JSON: NaN for null, ``lo`` and ``hi`` for an interval, and what holds for all rows in ``attrs``."""
    frame = pd.DataFrame([_flat(r) for r in rows or []])
    for column in frame:
        if frame[column].isna().all():
            frame[column] = math.nan
    frame.attrs.update(about)
    return frame


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of JSON with values alone: ``a_b`` for b of the object a."""
    out: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            out.update({f"{name}_{k}": v for k, v in _flat(value).items()})
        elif name.endswith("interval") or name == "any_law":
            of = "any_law_" if name == "any_law" else name.removesuffix("interval")
            out[of + "lo"], out[of + "hi"] = value or (None, None)
        else:
            out[name.replace("interval_", "")] = value
    return out
