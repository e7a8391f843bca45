"""What several tests need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]  # of the repository

settings.register_profile("belsim", database=None)  # no folder stays
settings.load_profile("belsim")


@pytest.fixture(scope="session")
def network() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The outputs, logits of 32 bits, and the targets of a real network: johnson, 64 levels, 2.5 to 4.3."""
    folder = ROOT / "testdata" / "network"
    return np.load(folder / "logits.npy"), np.load(folder / "targets.npy")
