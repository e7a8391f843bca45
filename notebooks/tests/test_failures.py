"""What fails outside of Python: disks that are full, folders of strange names, and commands that do not run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from conftest import ROOT

import belsim
from belsim import _call

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files and limits of Unix")

Y = np.arange(320) % 16
C = belsim.code("johnson", 16)
Z = 4.0 * C[np.clip(Y + np.random.default_rng(1).integers(-1, 2, 320), 0, 15)] - 2

WRITERS = {
    "decoder.npz": "fit.decoder.save('decoder.npz')",
    "fit.png": "fit.save('fit.png', dpi=300)",
    "map.svg": "belsim.heatmap('unary', 'johnson', levels=8, r=(0.1, 0.4, 9), sigma=(1, 2, 9)).save('map.svg')",
    "verified.pdf": "belsim.verify('unary', levels=4, samples=2).save('verified.pdf')",
    "report.html": "fit.report('report.html')",
}


def test_full_disk(tmp_path: Path) -> None:
    """No writer of the package replaces a file by a part of one, or leaves a temporary file."""
    pytest.importorskip("matplotlib")
    np.savez(tmp_path / "data.npz", y=Y, z=Z)
    for name in WRITERS:
        (tmp_path / name).write_text("good")
        (tmp_path / name).chmod(0o600)
    script = f"""
import signal, resource, numpy as np, matplotlib
matplotlib.use('agg')
import belsim
data = np.load('data.npz')
fit = belsim.fit('johnson', data['z'], data['y'], levels=16, fit_decoder=True)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in (512, resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for call in {list(WRITERS.values())!r}:
        try:
            eval(call)
            print('written')
        except belsim.Error as error:
            print(error.exit_code, error)
    import pathlib
    print(sorted(p.name for p in pathlib.Path().iterdir()), [pathlib.Path(n).read_bytes() == b'good' for n in {list(WRITERS)!r}])
"""
    environment = {**os.environ, "MPLCONFIGDIR": str(tmp_path.parent)}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment)
    lines = done.stdout.splitlines()
    files = f"{sorted([*WRITERS, 'data.npz'])} "
    assert len(lines) == 2 * len(WRITERS) + 2, lines
    assert all(line.startswith("3 ") and "written" not in line for line in lines[: len(WRITERS)]), lines
    assert lines[len(WRITERS)] == files + str([True] * len(WRITERS))
    assert lines[len(WRITERS) + 1 :] == ["written"] * len(WRITERS) + [files + str([False] * len(WRITERS))]
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in WRITERS} == {0o600}


def test_write(tmp_path: Path) -> None:
    """A link is followed, permissions stay, and what is no file stays."""
    path, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to("a")
    for content, mode in ((b"1", 0o640), (b"2", 0o604)):
        _call.write(str(link), lambda out, content=content: out.write(content))  # type: ignore[misc]
        assert path.read_bytes() == content and link.is_symlink()
        path.chmod(mode)
    _call.write(str(path), lambda out: out.write(b"3"))
    assert path.stat().st_mode & 0o777 == 0o604

    def fail(out: IO[bytes]) -> None:
        out.write(b"x" * 100_000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _call.write(str(path), fail)
    os.mkfifo(tmp_path / "pipe")
    for other in (tmp_path / "pipe", tmp_path, tmp_path / "none" / "a"):
        with pytest.raises(belsim.Error, match=r"^cannot write"):
            _call.write(str(other), lambda out: out.write(b"4"))
    assert path.read_bytes() == b"3"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "link", "pipe"]


@pytest.mark.parametrize("name", ["a,b", ",", "a:b", "x.npz:y", "a\\,b", "a\nb", "a b", "é", "logits:a", "--x", "row 3"])
@pytest.mark.parametrize("how", ["folder", "map"])
def test_names(name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of temporary files, and arrays that are mapped, whose names have what divides the values of flags."""
    monkeypatch.setattr(_call, "SMALL", 0)
    (tmp_path / name).mkdir()
    if how == "folder":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))

    def given(values: Any) -> Any:
        if how == "folder":
            return values
        file = tmp_path / name / f"{len(list((tmp_path / name).iterdir()))}{name}.npy"
        np.save(file, values)
        return np.load(file, mmap_mode="r")

    def fit() -> None:
        assert belsim.fit(given(C), given(Z), given(Y)).results["code"] == "code"

    if how == "folder" and name in ("x.npz:y", "a\\,b", "a\nb"):  # the command reads these otherwise, or not at all
        with pytest.raises(belsim.Error, match=r"^the folder of temporary files has a name that the command cannot read"):
            fit()
    else:
        fit()


BROKEN = {
    "empty": b"",
    "of another system": b"MZ\x90\0" * 99,
    "truncated": b"\x7fELF\2\1\1\0",
    "silent": b"#!/bin/sh\n",
    "chatty": b"#!/bin/sh\necho hello\n",
    "another version": b"#!/bin/sh\necho '{\"schema\": 1}'\n",
    "null": b"#!/bin/sh\necho null\n",
    "a list": b"#!/bin/sh\necho '[1]'\n",
    "bytes": b"#!/bin/sh\nprintf '\\377\\376'\n",
    "a trace": b"#!/bin/sh\nprintf 'Traceback:\\n  a\\n  b\\n' >&2\nexit 7\n",
    "killed": b"#!/bin/sh\nkill -9 $$\n",
    "no interpreter": b"#!/no/such/file\n",
}


@pytest.mark.parametrize("name", [*BROKEN, "not executable", "a folder", "none"])
def test_broken_command(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "belsim"
    if name == "a folder":
        command.mkdir()
    elif name != "none":
        command.write_bytes(BROKEN.get(name, b"#!/bin/sh\n"))
        command.chmod(0o644 if name == "not executable" else 0o755)
    decoder = belsim.fit("johnson", Z, Y, levels=16, fit_decoder=True).decoder
    monkeypatch.setattr(_call, "executable", lambda: str(command))
    calls: list[Callable[[], object]] = [
        lambda: belsim.code("gray", 4),
        lambda: belsim.codes(4),
        lambda: belsim.compare(["gray"]),
        lambda: belsim.verify("gray"),
        lambda: belsim.heatmap(),
        lambda: belsim.fit("johnson", Z, Y, levels=16),
        lambda: belsim.optimize(levels=8, bits=4),
        lambda: belsim.bench(),
        lambda: belsim.sweep({"codes": ["unary"]}, tmp_path / "results"),
        lambda: decoder.decode(Z),
    ]
    for call in calls:
        with pytest.raises(belsim.Error) as caught:
            call()
        assert caught.value.exit_code == 3
        assert str(command) in str(caught.value) and "\n" not in str(caught.value)


def test_distributed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is packed is what git tracks, or what is called as the package's; never what a link points to."""
    pytest.importorskip("hatchling")
    monkeypatch.syspath_prepend(str(ROOT / "notebooks"))
    import hatch_build

    names = ["belsim/__init__.py", "belsim/py.typed", "pyproject.toml"]
    others = ["belsim/secret.env", "belsim/bin/belsim", "belsim/a.pyc"]
    for name in names + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    (tmp_path / "belsim" / "link.py").symlink_to("/etc/hostname")

    def found() -> list[str]:
        return [file.relative_to(tmp_path).as_posix() for file in hatch_build.own(tmp_path)]

    assert found() == names
    for command in (["init", "-q"], ["add", "--", *names]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "belsim" / "untracked.py").write_text("1")
    assert found() == names
