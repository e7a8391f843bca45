"""The lines of Python in the READMEs run, and show what they say."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT


def prompted(block: str) -> str:
    """Lines to be pasted, with prompts. Behind #> stands what a statement prints."""
    begins = {statement.lineno for statement in ast.parse(block).body}
    lines = [f"{'>>>' if n in begins else '...'} {line}" for n, line in enumerate(block.splitlines(), 1)]
    return "".join(f"{line.removeprefix('... #> ')}\n" for line in lines if line != "... ")


@pytest.mark.parametrize("path", ["README.md", "notebooks/README.md"])
def test_readme(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, "no block marked python"
    monkeypatch.chdir(ROOT)
    source = "\n".join(block if ">>>" in block else prompted(block) for block in blocks if ">>>" in block or "#> " in block)
    if "import torch" in source or ", torch" in source:
        pytest.importorskip("torch")
    with pd.option_context("display.width", 120):
        test = doctest.DocTestParser().get_doctest(source, {}, path, str(Path(path)), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 0


@pytest.mark.parametrize("encoding", ["cp1252", "cp932", "ascii"])
def test_terminal(encoding: str, tmp_path: Path) -> None:
    """The lines of the package's README, with everything printed that is shown, on a terminal that lacks signs."""
    pytest.importorskip("sklearn")
    parts = doctest.DocTestParser().get_examples((ROOT / "notebooks" / "README.md").read_text(encoding="utf-8"))
    lines = [f"print({e.source.strip()})" if e.want else e.source.strip() for e in parts]
    level = "np.arange(2000) % 16"
    lines += [
        f"z = 4.0 * belsim.code('johnson', 16)[np.clip({level} + np.random.default_rng(1).integers(-1, 2, 2000), 0, 15)] - 2",
        f"fit = belsim.fit('johnson', z, {level}, levels=16)",
        "print(fit, repr(fit), fit.text)",
    ]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    script = ["-c", "\n".join(lines)]
    done = subprocess.run([sys.executable, *script], cwd=tmp_path, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr.decode(encoding, "replace")
    assert "The network's best decoder" in done.stdout.decode(encoding)
