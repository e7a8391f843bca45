"""Binary-encoded labels as a scikit-learn estimator. Needs scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from belsim import _codes
from belsim._call import Error, array, pair, shown
from belsim._codes import Decoder
from belsim._commands import fit

__all__ = ["BELRegressor"]


class BELRegressor(RegressorMixin, BaseEstimator):
    """Regression by classifiers that predict the bits of a quantized label.

    Parameters
    ----------
    classifier : a scikit-learn classifier with ``predict_proba`` or ``decision_function``, cloned for each bit, or a
        Pipeline that ends in one; None for LogisticRegression of standardized features. An MLPClassifier is one for all bits.
    code : a name, see ``belsim.codes()``, or an L × M matrix of 0 and 1.
    levels : the number of quantization levels L of a named code.
    decoder : ``auto``, ``bel-u``, ``bel-j``, ``gen`` or ``gen-ex``.
    range : (a, b), the labels of level 0 and of level L − 1, or the label of each level; None for the smallest and the largest label of
        the training data. Training data outside of it get the nearest end.
    temperature : the τ of ``gen-ex``.
    calibration : the share of the training data that ``fit`` draws, the same rows each time, and keeps to ``calibrate``; 0 for none.
        In a Pipeline, ``pipeline.predict(X, confidence=0.9)`` has intervals then.

    Attributes
    ----------
    matrix_ : the code, (L, M).
    range_ : the range of labels.
    values_ : the label of each level, (L,), where levels are not even; else None.
    classifiers_ : the fitted classifiers: one for all bits, or one for each bit that varies in the training data.
    constant_ : (M,), the bits that do not vary: 0 or 1, and −1 for those that do.
    decoder_ : the fitted ``belsim.Decoder`` of ``calibrate``, which ``predict`` then uses; None before.

    Source: Shah, Xue and Aamodt, "Label Encoding for Regression Networks", ICLR 2022.

    >>> import numpy as np
    >>> from belsim.sklearn import BELRegressor
    >>> from sklearn.linear_model import LogisticRegression
    >>> x = np.linspace(0, 1, 200)[:, None]  # features, (N, 1)
    >>> model = BELRegressor(LogisticRegression(C=1000), code="unary", levels=16).fit(x, x[:, 0])
    >>> model.predict([[0.25], [0.75]]).round(1).tolist()  # labels
    [0.3, 0.7]
    >>> new = np.linspace(0.001, 0.999, 200)[:, None]  # samples that the classifiers were not trained on
    >>> model.calibrate(new, new[:, 0]).predict_interval([[0.25], [0.75]], confidence=0.9).shape  # lower and upper
    (2, 2)
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        code: str | ArrayLike = "unary",
        levels: int | None = 64,
        decoder: str = "gen-ex",
        range: ArrayLike | None = None,  # noqa: A002
        temperature: float = 1.0,
        calibration: float = 0.0,
    ) -> None:
        if hasattr(classifier, "fit"):  # other values wait for fit, as scikit-learn's own checks ask
            _check(classifier)
        self.classifier = classifier
        self.code = code
        self.levels = levels
        self.decoder = decoder
        self.range = range
        self.temperature = temperature
        self.calibration = calibration

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks: whether the classifier takes NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.classifier is not None and get_tags(self.classifier).input_tags.allow_nan
        return tags

    def _features(self, X: Any, *y: Any, reset: bool = False) -> Any:  # noqa: N803
        """What the classifiers get: a DataFrame as it is, for those that look at its columns; an array of numbers of others."""
        if hasattr(X, "iloc"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            labels = [column_or_1d(check_array(of, ensure_2d=False, dtype=np.float64, input_name="y"), warn=True) for of in y]
            check_consistent_length(X, *labels)
            return (X, *labels) if y else X
        finite = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan or isinstance(self.classifier, Pipeline) else True
        if y:
            return validate_data(self, X, *y, y_numeric=True, reset=reset, ensure_all_finite=finite)
        return validate_data(self, X, reset=reset, ensure_all_finite=finite)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BELRegressor:  # noqa: N803
        """Trains the classifiers: ``X`` of shape (N, features), real labels ``y`` and weights of shape (N,).

        A sample of weight 0 is left out. Labels of K outputs are (N, K), where NaN is missing: that output does without the sample.
        Each output has a model of its own then, in ``each_``; the results of all methods have an axis of length K after the first.
        """
        _check(self.classifier)
        self.each_: list[BELRegressor] = []
        if _many(y):
            x, w = self._features(X, reset=True), None if sample_weight is None else np.asarray(sample_weight)
            for at, labels in _known(y, len(x)):
                self.each_.append(clone(self).fit(_rows(x, at), labels, None if w is None else w[at]))
            return self
        x, labels = self._features(X, _unmasked(y), reset=True)
        if labels.dtype.kind not in "buif":
            raise Error(f"y: values of the type {labels.dtype}; want numbers")
        w = None if sample_weight is None else _check_sample_weight(sample_weight, np.empty((len(labels), 1)), ensure_non_negative=True)
        if w is not None:
            if not (w > 0).any():
                raise Error("sample_weight: all are 0")
            x, labels, w = _rows(x, w > 0), labels[w > 0], w[w > 0]
        if not (isinstance(self.calibration, (int, float)) and 0 <= self.calibration < 1):
            raise Error(f"calibration = {shown(self.calibration)}: want a share from 0 to 1, such as 0.2")
        if not self.calibration:
            self._train(x, labels, w)
            return self
        kept = np.random.default_rng(0).permutation(len(labels)) < self.calibration * len(labels)
        self._train(_rows(x, ~kept), labels[~kept], None if w is None else w[~kept])
        return self.calibrate(_rows(x, kept), labels[kept], None if w is None else w[kept])

    def _train(self, x: Any, labels: NDArray[np.float64], w: NDArray[np.float64] | None) -> None:
        named = isinstance(self.code, str)
        self.matrix_ = _codes.matrix(self.code, self.levels if named else None)
        lo, hi = (labels.min(), labels.max()) if self.range is None else pair(self.range)
        self.range_ = (float(lo), float(hi) if hi > lo else float(lo) + 1)
        self.decoder_: Decoder | None = None
        levels = len(self.matrix_)
        self.values_ = None if self.range is None else _codes.values_of(self.range, levels)
        level = _codes.quantize(labels, self._labels(), levels, outside="clip")
        bits = _codes.encode(level, self.matrix_)
        varies = (bits != bits[0]).any(axis=0)
        self.constant_ = np.where(varies, -1, bits[0].astype(np.int64))
        columns = np.flatnonzero(varies)
        classifier = make_pipeline(StandardScaler(), LogisticRegression()) if self.classifier is None else self.classifier
        self.joint_ = isinstance(classifier, MLPClassifier) and len(columns) > 1
        weight = {} if w is None else _weight(classifier, w)
        parts = [bits[:, columns]] if self.joint_ else [bits[:, k] for k in columns]
        self.classifiers_ = [clone(classifier).fit(x, part, **weight) for part in parts]

    def outputs(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The outputs of the classifiers, (N, M), as logits. ``belsim.fit`` reads them."""
        check_is_fitted(self)
        if self.each_:
            return np.stack([of.outputs(X) for of in self.each_], axis=1)
        x = self._features(X)
        z = np.empty((len(x), len(self.constant_)))
        z[:] = np.where(self.constant_ == 1, 1.0, -1.0) * _codes.CERTAIN
        columns = np.flatnonzero(self.constant_ < 0)
        if self.joint_:
            z[:, columns] = _log_odds(self.classifiers_[0].predict_proba(x))
        else:
            for k, classifier in zip(columns, self.classifiers_, strict=True):
                z[:, k] = _soft(classifier, x)
        return z

    def predict(
        self, X: ArrayLike, confidence: float | None = None, *, output_type: _codes.Output | None = None,  # noqa: N803
        quantiles: Sequence[float] = _codes.QUANTILES,
    ) -> Any:  # fmt: skip
        """The labels, (N,), of samples of shape (N, features); with a confidence level, also what ``predict_interval`` returns.

        ``output_type`` takes them of ``predict_proba`` instead, as ``belsim.decode`` does: ``mean``, ``median``, ``mode``, a list of
        the ``quantiles``, or ``full``, a dictionary of all.
        """
        check_is_fitted(self)
        if self.each_:
            return _stacked([of.predict(X, confidence, output_type=output_type, quantiles=quantiles) for of in self.each_])
        if output_type is not None:
            values = self.values_ if self.values_ is not None else np.linspace(*self.range_, len(self.matrix_))
            return _codes.summary(self.predict_proba(X), values, output_type, quantiles)
        if confidence is not None:
            return self.predict(X), self.predict_interval(X, confidence)
        z = self.outputs(X)
        if self.decoder_ is not None:
            return self.decoder_.decode(z, kind="logits")
        found = _codes.decode(z, self.matrix_, self.decoder, kind="logits", temperature=self.temperature, range=self._labels())
        labels: NDArray[np.float64] = np.clip(found, *self.range_)
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """The probabilities of the levels, (N, L), of samples of shape (N, features): those of ``decoder_`` where there is one.

        Before ``calibrate``, the bits of ``unary`` are P(label > level), which isotonic regression makes descend; of other codes it is
        the product of the bits' probabilities at the code words.
        """
        z = self.outputs(X)
        if self.each_:
            return np.stack([of.predict_proba(X) for of in self.each_], axis=1)
        if self.decoder_ is not None:
            return self.decoder_.probabilities(z, kind="logits")
        return _codes.probabilities(z, self.matrix_, kind="logits", temperature=self.temperature)

    def _labels(self) -> ArrayLike:
        """The range, or the label of each level."""
        return self.range_ if self.values_ is None else self.values_

    def calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BELRegressor:  # noqa: N803
        """Fits a decoder, with the calibration of its intervals, to samples that the classifiers were not trained on.

        ``X`` has the shape (N, features), and ``y``, (N,), real labels; those outside of ``range_`` get the nearest end.
        With weights, (N,), a sample stays with the probability of its weight over the largest one: those that stay are drawn, the
        same ones each time, as the weights have it, and intervals hold what they promise over samples that count by their weights.
        """
        check_is_fitted(self)
        if self.each_:
            x = self._features(X)
            w = None if sample_weight is None else np.asarray(sample_weight)
            for of, (at, some) in zip(self.each_, _known(y, len(x)), strict=True):
                of.calibrate(_rows(x, at), some, None if w is None else w[at])
            return self
        x, labels = self._features(X, _unmasked(y))
        if sample_weight is not None:
            w = _check_sample_weight(sample_weight, np.empty((len(labels), 1)), ensure_non_negative=True)
            stays = np.random.default_rng(1).uniform(size=len(w)) * w.max() < w
            x, labels = _rows(x, stays), labels[stays]
        named = isinstance(self.code, str)
        self.decoder_ = fit(
            self.code if named else self.matrix_, self.outputs(x), np.clip(labels, *self.range_), range=self._labels(),
            levels=len(self.matrix_) if named else None, kind="logits", training="bce", temperature=self.temperature, fit_decoder=True,
        ).decoder  # fmt: skip
        return self

    def predict_interval(self, X: ArrayLike, confidence: float = 0.9) -> NDArray[np.float64]:  # noqa: N803
        """The intervals that hold the labels with a confidence level, (N, 2): lower and upper, as ``belsim.Decoder`` says."""
        if getattr(self, "each_", None):
            return np.stack([of.predict_interval(X, confidence) for of in self.each_], axis=1)
        z = self.outputs(X)
        if self.decoder_ is None:
            raise Error("no calibration: call calibrate(X, y) with samples that fit has not seen, or give calibration=0.2")
        return self.decoder_.predict_interval(z, confidence, kind="logits")


def _check(classifier: Any) -> None:
    """Refuses a classifier that has no logits."""
    soft = hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")
    if not (classifier is None or (soft and not isinstance(classifier, type))):
        raise Error(f"{shown(classifier)}: want a classifier with predict_proba or decision_function, from which logits come")


def _unmasked(y: Any) -> Any:
    """Labels; refuses masked ones."""
    return array(y, "y") if isinstance(y, np.ma.MaskedArray) else y


def _many(y: Any) -> bool:
    """Whether labels are of several outputs."""
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def _known(y: Any, n: int) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    """The samples of each output that have a label, and these labels."""
    labels = np.asarray(_unmasked(y), np.float64)
    if labels.ndim != 2 or len(labels) != n:
        raise Error(f"y of shape {labels.shape}: want ({n}, K), a label of each output for each sample, or NaN")
    for k, column in enumerate(labels.T):
        at = ~np.isnan(column)
        if not at.any():
            raise Error(f"y, column {k}: all are NaN; want a label of some samples")
        yield at, column[at]


def _stacked(parts: list[Any]) -> Any:
    """The results of several outputs as one, with the axis of the outputs after the first."""
    if isinstance(parts[0], dict):
        return {name: _stacked([part[name] for part in parts]) for name in parts[0]}
    if isinstance(parts[0], (list, tuple)):
        return type(parts[0])(_stacked(list(some)) for some in zip(*parts, strict=True))
    return np.stack(parts, axis=min(1, parts[0].ndim))


def _rows(x: Any, at: Any) -> Any:
    """Some samples of an array or a DataFrame."""
    return x.iloc[at] if hasattr(x, "iloc") else x[at]


def _weight(classifier: Any, w: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The argument of ``fit`` that has the weights."""
    steps = classifier.steps if isinstance(classifier, Pipeline) else [("", classifier)]
    takes = [hasattr(of, "fit") and "sample_weight" in inspect.signature(of.fit).parameters for _, of in steps]
    if not takes[-1]:
        raise Error(f"sample_weight: {type(steps[-1][1]).__name__} takes no weights of samples")
    return {f"{name}__sample_weight".removeprefix("__"): w for (name, _), taken in zip(steps, takes, strict=True) if taken}


def _log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        p = np.asarray(p, np.float64)
        z: NDArray[np.float64] = np.clip(np.log(p) - np.log1p(-p), -_codes.CERTAIN, _codes.CERTAIN)
        return z


def _soft(classifier: Any, x: NDArray[Any]) -> NDArray[np.float64]:
    """The logits of one classifier."""
    if hasattr(classifier, "predict_proba"):
        return _log_odds(classifier.predict_proba(x)[:, 1])
    return np.asarray(classifier.decision_function(x), dtype=np.float64)
