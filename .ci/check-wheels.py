"""check-wheels.py FILE...: what distributions contain.

Every wheel has the binary of the platform that its tags name, and is at most 15 MB. It has the files of the package that git tracks
here, or that are here where git is not, and no path of this machine. A source distribution has only files that git tracks, too.
"""
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

MOST = 15 << 20
MACHINES = {  # of a binary's header, by the wheel's platform
    r"(many|musl)linux.*x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    r"(many|musl)linux.*aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    r"macosx_.*x86_64": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    r"macosx_.*arm64": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    r"win_amd64": (b"MZ", None, b"PE\x00\x00\x64\x86"),
}
MADE = {"belsim/licenses/LICENSE", "belsim/licenses/THIRD-PARTY-LICENSES.txt"}

root = Path(__file__).resolve().parents[1]


def output(*command):
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


tracked = set(filter(None, output("git", "ls-files", "-z").split("\0")))
if not tracked:
    tracked = {f.relative_to(root).as_posix() for f in root.rglob("*") if f.is_file()}
package = {f.removeprefix("notebooks/") for f in tracked if re.match(r"notebooks/belsim/(?!bin/)[^/]*$", f)}
paths = {*json.loads(output("go", "env", "-json", "GOROOT", "GOPATH", "GOMODCACHE", "GOCACHE") or "{}").values()}
paths = {p.rstrip("/\\") + os.sep for p in {*paths, str(root)} if p}


def check_paths(what, content):
    for path in paths:
        assert path.encode() not in content, f"{what} has a path of this machine: {path}"


for path in sys.argv[1:]:
    if path.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            names = {m.name.split("/", 1)[1] for m in archive if m.isfile()}
            for m in archive:
                assert m.isfile(), f"{path}: {m.name} is no file"
                check_paths(f"{path}: {m.name}", archive.extractfile(m).read())
        of = {n: n.removeprefix("go/") if n.startswith("go/") else f"notebooks/{n}" for n in names - {"PKG-INFO", ".gitignore"}}
        strange = {n for n, f in of.items() if f not in tracked}
        assert not strange, f"{path}: git does not track {sorted(strange)}"
        assert package <= names, f"{path}: {sorted(package - names)} are missing"
        continue
    with zipfile.ZipFile(path) as wheel:
        assert wheel.testzip() is None, path
        names = wheel.namelist()
        tags = re.findall(r"^Tag: py3-none-(\S+)$", wheel.read(next(n for n in names if n.endswith(".dist-info/WHEEL"))).decode(), re.M)
        (name,) = [n for n in names if n.startswith("belsim/bin/")]
        binary, info = wheel.read(name), wheel.getinfo(name)
        for n in names:
            check_paths(f"{path}: {n}", wheel.read(n))
    here = {n for n in names if not re.match(r"belsim-[^/]*\.dist-info/", n)} - MADE - {name}
    assert here == package and MADE <= set(names), f"{path}: beside what git tracks {sorted(here - package)}, missing {sorted(package - here)}"
    assert tags and set(tags) == set(re.sub(r"^.*-py3-none-|\.whl$", "", path).split(".")), (path, tags)
    for tag in tags:
        magic, at, machine = next(of for pattern, of in MACHINES.items() if re.fullmatch(pattern, tag))
        at = int.from_bytes(binary[60:64], "little") if at is None else at
        assert binary.startswith(magic) and binary[at:].startswith(machine), f"{path}: {name} is no binary for {tag}"
    assert name.endswith(".exe") == tags[0].startswith("win"), name
    assert info.external_attr >> 16 & 0o111 or name.endswith(".exe"), f"{path}: {name} is not executable"
    size = os.path.getsize(path)
    assert size <= MOST, f"{path}: {size} bytes"
    print(f"{path.rsplit('/', 1)[-1]}: {size / 1e6:.1f} MB")
