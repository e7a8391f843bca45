"""Builds the command with Go, for the wheel; puts its source into the source distribution.

``CGO_ENABLED=0 python -m build`` builds a static binary, without support for GPUs. Go reads its other variables too:
``GOOS=windows GOARCH=amd64 python -m build --wheel`` builds a wheel for another platform. Paths of this machine are left out of the
binary. A distribution has the files that git tracks, and outside of its checkout those that are called as the package's.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The files of the Python package in a source distribution; those in the folder belsim are in a wheel.
PATTERNS = "belsim/*.py", "belsim/py.typed", "tests/*.py", "tests/*.go", "hatch_build.py", "pyproject.toml", "README.md"

# What go lists of a package's files.
FILES = "GoFiles", "CgoFiles", "IgnoredGoFiles", "CFiles", "CXXFiles", "HFiles", "SFiles", "IgnoredOtherFiles", "EmbedFiles"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs go for both targets."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds files to a distribution before it is made."""
        here = Path(self.root)
        carried = here / "go"  # in a source distribution
        source = carried if carried.is_dir() else here.parent
        if not (source / "go.mod").exists():
            sys.exit("the Go source of belsim is missing: build in its repository, or from a source distribution")
        if shutil.which("go") is None:
            sys.exit("building belsim needs Go 1.26 or later: https://go.dev/dl/")  # one line in pip's answer, not a trace
        include = build_data["force_include"]
        if self.target_name == "sdist":
            include.update({str(file): file.relative_to(here).as_posix() for file in own(here)})
            include.update(go_source(source))
            include[str(source / "LICENSE")] = "go/LICENSE"
            return
        if version != "editable":
            include.update({str(file): file.relative_to(here).as_posix() for file in own(here) if file.parent.name == "belsim"})
        folder = here / "build"
        folder.mkdir(exist_ok=True)
        system, machine, cgo, host = go(source, "env", "GOOS", "GOARCH", "CGO_ENABLED", "GOHOSTOS").split()
        name = "belsim.exe" if system == "windows" else "belsim"
        binary = here / "belsim" / "bin" / name  # where an editable installation finds it, too
        if (system, machine) != (host, go(source, "env", "GOHOSTARCH").strip()):
            binary = folder / f"{system}-{machine}" / name
        go(source, "build", "-trimpath", f"-ldflags=-s -w -X main.release={self.metadata.version}", "-o", str(binary), "./cmd/belsim")
        licences = folder / "THIRD-PARTY-LICENSES.txt"
        licences.write_text(third_party(source), encoding="utf-8")
        include[str(binary)] = f"belsim/bin/{name}"
        for file in (source / "LICENSE", licences):
            include[str(file)] = f"belsim/licenses/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag(binary, system, machine, cgo == '1')}"


def go(source: Path, *args: str) -> str:
    """Runs go in the folder of the source, and returns what it prints."""
    done = subprocess.run(["go", *args], cwd=source, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"'go {' '.join(args)}' failed")
    return done.stdout


def tracked(folder: Path) -> set[Path] | None:
    """The files below a folder that git tracks; None where the folder is in no checkout of git."""
    here = {k: v for k, v in os.environ.items() if k not in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")}  # which are a hook's
    try:
        done = subprocess.run(["git", "ls-files", "-z", "--", "."], cwd=folder, env=here, capture_output=True, check=False)
    except OSError:  # no git here
        return None
    names = [folder / os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    return set(names) if done.returncode == 0 and names else None


def own(here: Path) -> list[Path]:
    """The files of the Python package and its tests."""
    known = tracked(here)
    found = {file for pattern in PATTERNS for file in here.glob(pattern) if file.is_file() and not file.is_symlink()}
    return sorted(found if known is None else found & known)


def packages(source: Path) -> list[dict[str, Any]]:
    """The Go packages that the command is built of."""
    text, out = go(source, "list", "-deps", "-json", "./cmd/belsim"), []
    decoder, at = json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        package, end = decoder.raw_decode(text, at)
        out.append(package)
        at = end + re.compile(r"\s*").match(text, end).end() - end  # type: ignore[union-attr]
    return out


def go_source(source: Path) -> dict[str, str]:
    """The files of the module that the command is built of, with their places in the source distribution."""
    files = [source / "go.mod", source / "go.sum"]
    for package in packages(source):
        if package.get("Module", {}).get("Main"):
            files += [Path(package["Dir"]) / name for kind in FILES for name in package.get(kind, ())]
    known = tracked(source)
    strange = [file for file in files if known is not None and file not in known]
    if strange:
        raise RuntimeError(f"{strange[0]} is part of the command, and git does not track it")
    return {str(f): f"go/{f.relative_to(source).as_posix()}" for f in sorted(set(files))}


def third_party(source: Path) -> str:
    """The licences of Go and of the modules that the binary contains."""
    folders = {"Go": Path(go(source, "env", "GOROOT").strip())}
    for package in packages(source):
        module = package.get("Module")
        if module and not module.get("Main"):
            folders[f"{module['Path']} {module['Version']}"] = Path(module["Dir"])
    parts = []
    for name, folder in sorted(folders.items()):
        texts = [
            f for f in sorted(folder.rglob("*")) if f.is_file() and re.match(r"(?i)((un)?licen[sc]e|copying|copyright|notice)", f.name)
        ]
        if name == "Go":
            texts = [folder / "LICENSE"]
        if not texts:
            raise RuntimeError(f"{name}: no licence in {folder}")
        for f in texts:
            parts.append(
                f"{'=' * 80}\n{name}: {f.relative_to(folder).as_posix()}\n\n{f.read_text(encoding='utf-8', errors='replace')}\n"
            )
    return "".join(parts)


MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def tag(binary: Path, system: str, machine: str, cgo: bool) -> str:
    """The platforms that the binary runs on, as wheels name them. ``system`` and ``machine`` are Go's names."""
    if system == "darwin":  # Go 1.26 needs macOS 12
        return f"macosx_12_0_{'arm64' if machine == 'arm64' else 'x86_64'}"
    if system == "windows":
        return f"win_{machine}"
    name = MACHINES.get(machine)
    if system != "linux" or name is None:
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not cgo:  # a static binary, for any C library
        return f"manylinux_2_17_{name}.manylinux2014_{name}.musllinux_1_1_{name}"
    needs = [int(n) for n in re.findall(rb"GLIBC_2\.(\d+)", binary.read_bytes())]
    return f"manylinux_2_{max(needs)}_{name}" if platform.libc_ver()[0] == "glibc" and needs else f"linux_{name}"
