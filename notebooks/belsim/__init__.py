"""belsim: the error of regression by binary-encoded labels, from Python.

A real label is quantized to L levels, encoded in M bits, predicted by M binary classifiers and decoded again. Functions
here run the command ``belsim``, which this package carries, and return its results as NumPy arrays and DataFrames:

- ``codes``, ``code``: the codes, and their matrices; ``encode``, ``decode``, ``quantize``, ``dequantize``: in NumPy
- ``compare``, ``heatmap``, ``verify``: the expected error of codes, by bound, exactly, and by samples
- ``optimize``: a search for a code; ``sweep``: many cells; ``bench``
- ``fit``: a trained network, judged by its outputs
- ``belsim.torch``, ``belsim.sklearn``: heads of networks, and estimators; they need torch and scikit-learn

**Levels and bits count from 0 in Python**, as rows and columns of a code's matrix do: level 0 is row 0, and the last
level is L − 1. What the command prints (``Fit.text``) and writes (``Fit.report``) counts from 1.

A refusal is a ``belsim.Error``, whose text says what is wanted. Errors of codes are ``|decoded − label|`` in levels.
Names of columns are those of the command's JSON; a missing value is NaN.
Nothing is cached and nothing is downloaded. A call that is interrupted stops the command. Where tqdm is installed, a bar
shows the progress of long calls in notebooks and terminals (``progress=True`` or ``False`` decides).
"""

from importlib.metadata import version as _version

from belsim._call import Error
from belsim._codes import Decoder, code, codes, decode, dequantize, encode, quantize
from belsim._commands import (
    Fit,
    Heatmap,
    Optimized,
    Verification,
    bench,
    compare,
    fit,
    heatmap,
    optimize,
    sweep,
    verify,
)

__version__ = _version("belsim")

__all__ = [
    "Decoder",
    "Error",
    "Fit",
    "Heatmap",
    "Optimized",
    "Verification",
    "bench",
    "code",
    "codes",
    "compare",
    "decode",
    "dequantize",
    "encode",
    "fit",
    "heatmap",
    "optimize",
    "quantize",
    "sweep",
    "verify",
]
