"""Calls of the command: arguments, arrays, progress, errors."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import json
import math
import operator
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

SMALL = 1 << 20
"""Bytes: an array up to this size goes through standard input, a larger one through a file."""


class Error(Exception):
    """A refusal or a failure of belsim. Its text is the command's message.

    ``exit_code`` is the command's: 2 for bad input, 3 where the machine cannot do it. Messages about arrays count rows and
    columns from 0.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


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
    if hasattr(values, "detach"):
        tensor = cast("Any", values).detach().cpu()
        values = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor  # which NumPy does not know
    if hasattr(values, "nnz") or "sparse" in str(getattr(values, "layout", "")):
        raise Error(f"{name}: a sparse array; want a dense one")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        masked = np.ma.getmaskarray(values)
        first = ", ".join(str(i) for i in np.argwhere(masked)[0])
        raise Error(f"{name}: {masked.sum()} of {masked.size} values are masked (first: index {first}); fill them, or leave them out")
    try:
        out = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Error(f"{name}: no array of numbers: {error}") from error
    if out.dtype == object or out.dtype.kind not in "biuf":
        raise Error(f"{name} of {out.dtype}: want bools, integers or floats")
    if out.dtype.kind == "f" and out.dtype.itemsize not in (2, 4, 8):
        out = out.astype(np.float64)
    return out


def number(value: object, name: str) -> float:
    """A positive finite number."""
    try:
        out = float(cast("Any", value))
    except (TypeError, ValueError):
        out = math.nan
    if not 0 < out < math.inf:
        raise Error(f"{name} = {value!r}: want a positive finite number")
    return out


def count(value: object, name: str) -> int:
    """A whole number, 2 or more."""
    try:
        out = operator.index(cast("Any", value))
    except TypeError:
        raise Error(f"{name} = {value!r}: want a whole number") from None
    if out < 2:
        raise Error(f"{name} = {out}: want 2 at least")
    return out


def choice(value: object, choices: Any, name: str) -> None:
    """Refuses what is none of the values of a Literal."""
    if value not in get_args(choices):
        raise Error(f"{name} = {value!r}: want one of {', '.join(map(repr, get_args(choices)))}")


def listed(values: object, name: str, what: str) -> list[Any]:
    """The elements of a list, a tuple, or what else is a sequence of them; ``what`` says what they are."""
    if isinstance(values, str) or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) != 1:
        raise Error(f"{name}: want a list of {what}")
    return list(cast("Iterable[Any]", values))


def path_of(value: object, name: str) -> str:
    """The path of a file, as text."""
    if not isinstance(value, (str, os.PathLike)):
        raise Error(f"{name} = {value!r}: want the path of a file")
    return str(os.fspath(value))


class Inputs:
    """The arrays of one call, and its folder of files. Leaving the context removes the folder."""

    def __init__(self) -> None:
        self.stdin: bytes | None = None
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
            self._folder = tempfile.TemporaryDirectory(prefix="belsim-")
            (Path(self._folder.name) / "caller").write_text(str(os.getpid()))  # the command removes no other folder
        return Path(self._folder.name) / name

    def array(self, values: ArrayLike, name: str, *, file: bool = False) -> str:
        """What stands on the command line for an array: ``-``, or a path, which ``file`` asks for.

        ``name`` is the array's in messages and results.
        """
        mapped = _mapped_file(values)
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
        np.save(path, a)
        self.names[str(path)] = name
        return str(path)

    def text(self, content: str, name: str, ending: str) -> str:
        """The path of a file with a text. ``name`` is the file's in messages."""
        file = self.path(f"{len(self.names)}{ending}")
        file.write_text(content, encoding="utf-8")
        self.names[str(file)] = name
        return str(file)

    def code(self, code: str | ArrayLike, name: str, *, file: bool = False) -> str:
        """What stands on the command line for a code, a name or an L × M matrix."""
        if isinstance(code, (str, os.PathLike)):
            return os.fspath(code)
        if np.ndim(array(code, name)) != 2:
            raise Error(f"{name}: want the name of a code, or an L × M matrix")
        return self.array(code, name, file=file)

    def rename(self, text: str) -> str:
        """A message with the arrays' names for their paths."""
        ours = False
        text = re.sub(r"(^|[ :])-: ", r"\1standard input: ", text)
        for path, name in self.names.items():
            ours = ours or path in text
            text = text.replace(path, name)
        return _as_python(text, ours)

    def renamed(self, value: Any) -> Any:
        """A result with the arrays' names for their paths."""
        if isinstance(value, str):
            return self.names.get(value, value)
        if isinstance(value, list):
            return [self.renamed(v) for v in value]
        if isinstance(value, dict):
            return {k: self.renamed(v) for k, v in value.items()}
        return value


_FLAG = re.compile(r"--([a-z][a-z-]*)(?:[ =]([-+.\d][\w.+-]*))?")
_HELP = re.compile(r"; see belsim[a-z ]* --help")
_PLACE = re.compile(r"\b(row|rows|column|columns) (\d+)(?:( and | to )(\d+))?")


def _as_python(text: str, arrays: bool) -> str:
    """A message with arguments for flags. About arrays: with rows and columns counted from 0."""
    text = _FLAG.sub(lambda m: m[1].replace("-", "_") + (f"={m[2]}" if m[2] else ""), _HELP.sub("", text))
    if arrays:
        text = _PLACE.sub(lambda m: f"{m[1]} {int(m[2]) - 1}" + (f"{m[3]}{int(m[4]) - 1}" if m[3] else ""), text)
    return text


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


def word(value: object) -> str:
    """A value as the command line has it."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def flags(**values: object) -> list[str]:
    """Flags for arguments: none for None, False and missing ones; comma-separated values for a list."""
    out = []
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
        elif isinstance(value, (list, tuple)):
            out.append(f"{flag}={','.join(word(v) for v in value)}")
        else:
            out.append(f"{flag}={word(value)}")
    return out


def span(values: Sequence[Any] | NDArray[Any] | None, name: str) -> str | None:
    """A range of the command line: ``lo:hi:count`` or ``lo:hi:count:log`` from such a tuple, or the numbers of a list."""
    if values is None:
        return None
    wrong = Error(f"{name} = {values!r}: want (lo, hi, count), (lo, hi, count, 'log'), or a list of numbers")
    if isinstance(values, tuple) and (len(values) not in (3, 4) or values[3:] not in ((), ("log",))):
        raise wrong
    try:
        numbers = [word(v + 0) for v in values[:3]] if isinstance(values, tuple) else [word(float(v)) for v in values]
    except (TypeError, ValueError):
        raise wrong from None
    return ":".join([*numbers, *values[3:]]) if isinstance(values, tuple) else ",".join(numbers)


def ends(labels: tuple[float, float] | None) -> str | None:
    """The labels of the first and the last level: ``a:b``."""
    return None if labels is None else ":".join(word(v) for v in pair(labels))


def pair(labels: tuple[float, float]) -> tuple[float, float]:
    """A range of labels as two numbers."""
    try:
        lo, hi = (float(label) for label in labels)
    except (TypeError, ValueError):
        raise Error(f"range = {labels!r}: want (a, b), the labels of the first and the last level") from None
    return lo, hi


def prior_flags(inputs: Inputs, prior: ArrayLike | None, levels: int | None) -> list[str]:
    """The flags of a prior, the count or weight of each level, and of the number of levels."""
    if prior is None:
        return flags(levels=levels)
    counts = array(prior, "prior")
    if counts.ndim != 1:
        raise Error(f"prior of {counts.ndim} dimensions: want the count of each level, of shape (L,)")
    if levels is not None and levels != len(counts):
        raise Error(f"prior of {len(counts)} counts: want {levels}, one for each level")
    # With the number of levels, codes of another number are refused.
    return flags(levels=len(counts), prior=histogram(inputs, np.column_stack((np.arange(len(counts)), counts))))


def histogram(inputs: Inputs, rows: NDArray[Any]) -> str:
    """The file of a histogram whose rows are a label, a whole number, and its count or weight."""
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise Error(f"prior of shape {rows.shape}: want (N, 2), a label and its count in each row")
    lines = "".join(f"{word(int(x) if x == np.floor(x) else x)},{word(float(count))}\n" for x, count in rows)
    return inputs.text("label,count\n" + lines, "prior", ".csv")


_PROGRESS = re.compile(r"^belsim: (.+?): (\d+)(?: of (\d+) \(\d+ %\)| s)?(?:, (.*))?$")  # the total may be unknown


_CRASH = re.compile(r"(fatal error|panic|runtime|runtime/cgo): ")  # of the runtime of Go


class _Bar:
    """A bar of tqdm, made when there is progress to show. Without tqdm it does nothing."""

    def __init__(self, show: bool | None) -> None:
        if show is None:
            show = sys.stderr.isatty() or "ipykernel" in sys.modules
        self.wanted = show and importlib.util.find_spec("tqdm") is not None
        self._bar: Any = None

    def line(self, what: str, done: int, total: int | None, note: str | None) -> None:
        if not self.wanted:
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
    try:
        process = subprocess.Popen(
            [executable(), *args],
            stdin=subprocess.DEVNULL if inputs.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
    except ValueError as error:  # a NUL, or half of a surrogate pair, in a name
        raise Error(f"a name that no file can have: {error}") from error
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
    text = out[0].decode("utf-8")
    notes = [m for m in messages if m.startswith("belsim: note: ")]
    rest = [m for m in messages if m and m not in notes]
    crash = next(filter(_CRASH.match, rest), None)
    if crash is not None:  # a trace follows
        raise Error(f"the command crashed: {inputs.rename(crash)}", 3)
    if status not in ((0, 1) if may_fail else (0,)):
        message = inputs.rename(" ".join(rest).removeprefix("belsim: "))
        raise Error(message or f"belsim ended with the exit code {status}", status)
    for note in notes:
        if "sampling on the CPU" not in note:  # no news for a caller who did not ask for a GPU
            warnings.warn(inputs.rename(note.removeprefix("belsim: note: ")), stacklevel=4)
    return text


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


def results(args: Iterable[str], inputs: Inputs, *, progress: bool | None = None, may_fail: bool = False) -> dict[str, Any]:
    """Runs the command, and returns its JSON with levels and bits from 0."""
    command, *rest = args
    text = run([command, "--format=json", *rest], inputs, progress=progress, may_fail=may_fail)
    return cast("dict[str, Any]", inputs.renamed(from_zero(json.loads(text))))


_POSITIONS = ("level", "output", "bit", "last_level", "worst_level")
_LISTS_OF_POSITIONS = ("dead_bits", "rate_levels", "curve_levels")


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
        elif name in _POSITIONS and isinstance(v, int):
            out[name] = v - 1
        elif name in _LISTS_OF_POSITIONS and isinstance(v, list):
            out[name] = [k - 1 for k in v]
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
        elif name.endswith("interval"):
            out[name.removesuffix("interval") + "lo"], out[name.removesuffix("interval") + "hi"] = value or (None, None)
        else:
            out[name.replace("interval_", "")] = value
    return out
