"""check-wheels.py FILE...: every wheel has the binary of the platform that its tags name, and is at most 15 MB."""
import os
import re
import sys
import zipfile

MOST = 15 << 20
MACHINES = {  # of a binary's header, by the wheel's platform
    r"(many|musl)linux.*x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    r"(many|musl)linux.*aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    r"macosx_.*x86_64": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    r"macosx_.*arm64": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    r"win_amd64": (b"MZ", None, b"PE\x00\x00\x64\x86"),
}

for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as wheel:
        assert wheel.testzip() is None, path
        names = wheel.namelist()
        tags = re.findall(r"^Tag: py3-none-(\S+)$", wheel.read(next(n for n in names if n.endswith(".dist-info/WHEEL"))).decode(), re.M)
        (name,) = [n for n in names if n.startswith("belsim/bin/")]
        binary, info = wheel.read(name), wheel.getinfo(name)
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
