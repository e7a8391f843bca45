"""The lines of Python in the READMEs run, and show what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT


@pytest.mark.parametrize("path", ["README.md", "notebooks/README.md"])
def test_readme(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, "no block marked python"
    monkeypatch.chdir(ROOT)
    source = "\n".join(block for block in blocks if ">>>" in block)
    if "import torch" in source or ", torch" in source:
        pytest.importorskip("torch")
    with pd.option_context("display.width", 120):
        test = doctest.DocTestParser().get_doctest(source, {"np": np}, path, str(Path(path)), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 0
