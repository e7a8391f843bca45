"""belsim.torch: losses as they are defined, targets, decoding, gradients, and compiled and mixed-precision networks."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import belsim

torch = pytest.importorskip("torch")
special = pytest.importorskip("scipy.special")

L = 16
ALL: list[tuple[Any, str | None]] = [
    *[(kind, code) for kind in ("bce", "ce", "soft", "l1", "huber", "l2") for code in ("johnson", "unary", "onehot")],
    ("corn", None),
    ("l1", None),
    ("huber", None),
    ("l2", None),
]
EACH = [(kind, code) for kind, code in ALL if code in ("johnson", None)]


def outputs(head: Any, n: int, seed: int = 1) -> Any:
    return 2 * torch.randn(n, head.outputs, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def labels(n: int) -> Any:
    return torch.linspace(0, L - 1, n, dtype=torch.float64)


def test_losses() -> None:
    """Every loss is what its definition says, in NumPy. Labels between two levels count as the nearest one."""
    from belsim.torch import Head

    y = labels(40).numpy()
    level = belsim.quantize(y, (0, L - 1), L)
    for kind, code in ALL:
        head = Head(kind, L, code=code)
        z = outputs(head, 40).numpy()
        if code is not None:
            c = belsim.code(code, L).astype(float)
            assert head.outputs == c.shape[1]
            found = special.softmax(z @ c.T, axis=1) @ np.arange(L)
        else:
            assert head.outputs == (15 if kind == "corn" else 1)
            found = (z[:, 0] + 1) * 7.5
        error = np.abs(found - y)
        if kind == "bce":
            want = -np.log(np.where(c[level] == 1, special.expit(z), special.expit(-z))).mean()
        elif kind == "ce":
            want = -special.log_softmax(z @ c.T, axis=1)[np.arange(40), level].mean()
        elif kind == "soft":
            edges = special.ndtr((np.arange(L + 1) - 0.5 - y[:, None]) / 0.75)
            p = np.diff(edges, axis=1) / (edges[:, -1:] - edges[:, :1])
            want = -(p * special.log_softmax(z @ c.T, axis=1)).sum(1).mean()
        elif kind == "corn":
            terms = [
                -np.log(special.expit(z[i, k] if n > k else -z[i, k])) for i, n in enumerate(level) for k in range(min(n + 1, L - 1))
            ]
            want = np.mean(terms)
        else:
            want = np.mean({"l1": error, "l2": error**2, "huber": np.where(error < 1, error**2 / 2, error - 0.5)}[kind])
        got = head.loss(torch.tensor(z), torch.tensor(y)).item()
        assert got == pytest.approx(want, rel=1e-12), (kind, code)


@pytest.mark.parametrize("sigma", [1e-3, 0.5, 2.0, 50.0])
def test_soft_target(sigma: float) -> None:
    """A soft target sums to 1, also at the ends and for widths that are small or larger than the range."""
    from belsim.torch import Head

    head = Head("soft", L, code="johnson", sigma=sigma)
    p = head.target(torch.tensor([0.0, 0.3, 7.0, 7.5, 15.0], dtype=torch.float64))
    torch.testing.assert_close(p.sum(-1), torch.ones(5, dtype=torch.float64), rtol=0, atol=1e-12)
    assert (p >= 0).all()
    assert p.argmax(-1).tolist()[:3] == [0, 0, 7]
    torch.testing.assert_close(p[3, 7], p[3, 8])
    torch.testing.assert_close(p[0], p[4].flip(0))
    if sigma == 1e-3:
        torch.testing.assert_close(p[2], torch.eye(L, dtype=torch.float64)[7])
    single = head.target(torch.tensor([0.3, 7.5]))
    torch.testing.assert_close(single, p[[1, 3]].float(), rtol=1e-4, atol=1e-6)  # of float32: 6e-8 of a level over σ


def test_labels() -> None:
    """Labels have a range. Those outside are refused, or get the nearest end."""
    from belsim.torch import Head

    y = torch.tensor([2.5, 3.1, 4.0], dtype=torch.float64)
    for kind, code in ALL:
        head, plain = Head(kind, L, code=code, range=(2.5, 4.0)), Head(kind, L, code=code)
        z = outputs(head, 3)
        torch.testing.assert_close(head.loss(z, y), plain.loss(z, (y - 2.5) * 10))
        torch.testing.assert_close(head.decode(z), plain.decode(z) / 10 + 2.5)
        wrong = torch.tensor([2.5, 3.1, 4.2], dtype=torch.float64)
        with pytest.raises(belsim.Error, match=r"1 of 3 labels \(first: index 2\) are outside 2.5 to 4; clip them"):
            head.loss(z, wrong)
        unknown = torch.tensor([2.5, float("nan"), 4.0])
        with pytest.raises(belsim.Error, match="want finite numbers"):
            head.loss(z, unknown)
        clipping = Head(kind, L, code=code, range=(2.5, 4.0), outside="clip")
        assert clipping.loss(z, unknown).isnan()
        torch.testing.assert_close(clipping.loss(z, wrong), head.loss(z, y))


def test_decode() -> None:
    """The mean is gen-ex, and the median and the most probable level are those of the distribution."""
    from belsim.torch import Head

    for kind, code in ALL[:-3]:
        head = Head(kind, L, code=code)
        z = outputs(head, 200)
        torch.testing.assert_close(head.probabilities(z).sum(-1), torch.ones(200, dtype=torch.float64))
        p = head._posterior(z)  # of unary bits trained one by one, probabilities are not those of the decoder gen-ex
        if code is not None:
            np.testing.assert_allclose(head.decode(z), belsim.decode(z, code, "gen-ex", levels=L), rtol=1e-9)
        else:
            passed = special.expit(z.numpy()).cumprod(1)
            np.testing.assert_allclose(head.decode(z), passed.sum(1), rtol=1e-9)
            np.testing.assert_array_equal(head.decode(z, "median").round(), (passed > 0.5).sum(1))  # the rank
        assert (head.decode(z, "map") == p.argmax(-1)).all()
        edges = np.arange(L + 1) - 0.5
        upto = np.hstack([np.zeros((200, 1)), p.numpy().cumsum(1)])
        want = [np.clip(np.interp(0.5, u, edges), 0, L - 1) for u in upto]
        np.testing.assert_allclose(head.decode(z, "median"), want, rtol=0, atol=1e-9)
        assert (head(z) == head.decode(z)).all()
        assert head.decode(z.reshape(10, 20, -1), "median").shape == (10, 20)
    direct = Head("l1", L, range=(2, 4))
    assert direct.decode(torch.tensor([[-1.0], [0.0], [1.0], [1.5]])).tolist() == [2, 3, 4, 4]


@pytest.mark.parametrize("values", [None, np.arange(L) ** 2.0])
@pytest.mark.parametrize("rule", ["mean", "median", "map"])
def test_not_a_number(rule: Any, values: Any) -> None:
    """No rule makes a label of an output that is NaN."""
    from belsim.torch import Head

    for kind, code in EACH:
        head = Head(kind, L, code=code, values=values)
        z = outputs(head, 3).float()
        z[1, -1] = math.nan
        assert head.decode(z, rule).isnan().tolist() == [False, True, False], head


def test_exact_levels() -> None:
    """A network in half precision reads the levels of its head as they are."""
    from belsim.torch import Head

    z = outputs(Head("ce", L, code="johnson"), 50)
    wanted = Head("ce", L, code="johnson", values=np.arange(L) ** 2.0).decode(z)
    for dtype in (torch.float16, torch.bfloat16):
        head = Head("ce", L, code="johnson", values=np.arange(L) ** 2.0)
        assert torch.equal(torch.nn.Sequential(torch.nn.Linear(2, 2), head).to(dtype)[1].decode(z), wanted)


def test_gradients() -> None:
    """Autograd agrees with differences, of losses and of decoded labels."""
    from belsim.torch import Head

    for kind, code in ALL:
        head = Head(kind, L, code=code)
        z = 0.3 * outputs(head, 6)
        z.requires_grad_()
        assert torch.autograd.gradcheck(lambda z, head=head: head.loss(z, labels(6)), z), (kind, code)
        assert torch.autograd.gradcheck(head.decode, z), (kind, code)


def test_told() -> None:
    """fit takes code, levels, range and training of a head, and of the heads of several outputs; nothing is said twice."""
    from belsim.torch import Head

    rng = np.random.default_rng(2)
    y = rng.uniform(2, 5, (200, 2))
    level = (y - 2) * (L - 1) / 3
    seen = np.clip(np.rint(level + rng.normal(0, 1, y.shape)), 0, L - 1).astype(int)
    said: Any = {"range": (2, 5), "levels": L}
    for kind, code in EACH:
        head = Head(kind, L, code=code, range=(2, 5))
        if code is not None and kind == "huber":
            with pytest.raises(belsim.Error, match="fit knows no huber with a code"):
                belsim.fit(head, np.ones((9, head.outputs)), np.full(9, 3))
            continue
        direct = code is None and kind != "corn"
        z = (2 * seen / (L - 1) - 1)[..., None] if direct else 4.0 * belsim.encode(seen, code or "unary", levels=L) - 2
        z += 0 if direct else rng.normal(0, 1, z.shape)
        labels = np.asarray(belsim.dequantize(seen, (2, 5), L))
        told = belsim.fit(head, z[:, 0], y[:, 0])
        named = code if code is not None else "corn" if kind == "corn" else "direct"
        training: Any = kind if code is not None else "auto"
        plain = belsim.fit(named, labels[:, 0] if direct else z[:, 0], y[:, 0], **said, training=training)
        np.testing.assert_allclose(told.decoders["observed"], plain.decoders["observed"], rtol=1e-6)
        assert told.results["code"] == plain.results["code"]
        for heads in (head, [head, Head(kind, L, code=code, range=(2, 5))]):
            assert belsim.fit(heads, z, y).each[0].decoders["observed"].tolist() == pytest.approx(told.decoders["observed"].tolist())
    twice: Any
    for twice in {"levels": L}, {"range": (2, 5)}, {"training": "bce"}:
        with pytest.raises(belsim.Error, match=f"^{next(iter(twice))} = .*: the head has its own; leave it out$"):
            belsim.fit(head, z[:, 0], y[:, 0], **twice)
    own = Head("ce", L, code=belsim.code("hexj", L), range=(2, 5), outside="clip")
    z = 4.0 * belsim.encode(seen[:, 0], "hexj", levels=L) - 2
    assert belsim.fit(own, z, y[:, 0] + 0.1).results["levels"] == L
    for wrong, what in {
        "heads alone": [own, "hexj"],
        "heads of several levels": [own, Head("ce", 9, code="gray")],
        "heads of several training": [own, Head("bce", L, code="gray")],
        "heads of several matrices": [own, Head("ce", L, code="gray")],
    }.items():
        with pytest.raises(belsim.Error, match=wrong):
            belsim.fit(what, z, y[:, 0])  # type: ignore[arg-type]


def test_learns() -> None:
    """Every head learns a line: both ends of the labels are decoded."""
    from belsim.torch import Head

    x = torch.linspace(-1, 1, 800)[:, None]
    for kind, code in EACH:
        torch.manual_seed(1)
        head = Head(kind, L, code=code, range=(-1, 1))
        net = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10), torch.nn.Linear(10, head.outputs))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
        for _ in range(300):
            optimizer.zero_grad()
            head.loss(net(x), x[:, 0]).backward()
            optimizer.step()
        found = head.decode(net(x))
        assert (found - x[:, 0]).abs().mean() * 7.5 < 0.5, (kind, code)
        assert found.min() < -0.8, (kind, code)
        assert found.max() > 0.8, (kind, code)


@pytest.mark.parametrize("outside", ["clip", "refuse"])
def test_compiled_and_mixed(outside: Any) -> None:
    """A compiled loss and its gradients are the same; clipped, it is one graph. Under autocast, only the network's own layers
    are rounded."""
    from belsim.torch import Head

    for kind, code in EACH if outside == "clip" else EACH[:1]:
        head = Head(kind, L, code=code, outside=outside)
        z, y = outputs(head, 12).float().requires_grad_(), labels(12).float()

        def gradient(loss: Any, z: Any = z) -> Any:
            return torch.autograd.grad(loss, z)[0]

        torch._dynamo.reset()
        compiled = torch.compile(head.loss, backend="aot_eager", fullgraph=outside == "clip")
        torch.testing.assert_close(compiled(z, y), head.loss(z, y))
        torch.testing.assert_close(gradient(compiled(z, y)), gradient(head.loss(z, y)))
        read = torch.compile(head.decode, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(read(z), head.decode(z))
        with torch.autocast("cpu", torch.bfloat16):
            loss, found = head.loss(z.bfloat16(), y), head.decode(z.bfloat16())
        assert (loss.dtype, found.dtype) == (torch.float32, torch.float64)
        wide = head.loss(z.bfloat16().float(), y)
        torch.testing.assert_close(loss, wide, rtol=0, atol=0)
        torch.testing.assert_close(gradient(loss), gradient(wide), rtol=0, atol=0)
        torch.testing.assert_close(found, head.decode(z.bfloat16().float()), rtol=0, atol=0)


def test_state() -> None:
    """The matrix moves with the module, and is one's own or of a name."""
    from belsim.torch import Head

    c = belsim.code("b1jdj", L)
    head = Head("bce", L, code=c)
    assert sorted(head.state_dict()) == ["_extra_state", "bits", "matrix"]
    z = outputs(head, 5)
    torch.testing.assert_close(head.bfloat16().loss(z, labels(5)), Head("bce", L, code="b1jdj").loss(z, labels(5)))
    assert repr(head) == f"Head('bce', levels=16, code='a matrix', outputs={c.shape[1]}, range=(0.0, 15.0))"


def test_refused() -> None:
    from belsim.torch import Head

    wrong: list[tuple[str, Any, dict[str, Any]]] = [
        ("want one of 'bce', 'ce', 'soft'", "mse", {}),
        (r"kind = 'hl-gauss': want Head\('soft', levels, code='onehot'\)", "hl-gauss", {}),
        ("ce needs a code", "ce", {}),
        ("corn has no code", "corn", {"code": "unary"}),
        ("sigma = 0", "soft", {"code": "unary", "sigma": 0}),
        ("16 levels were asked for", "ce", {"code": np.eye(4)}),
        ("the smaller first", "l1", {"range": (4, 2)}),
        ("want one of 'refuse', 'clip'", "l1", {"outside": "cut"}),
        (r"range = 3: want \(a, b\)", "l1", {"range": 3}),
        (r"code = 'hl-gauss': no code, but a head: Head\('soft', levels, code='onehot'\)", "soft", {"code": "hl-gauss"}),
    ]
    for message, kind, options in wrong:
        with pytest.raises(belsim.Error, match=message):
            Head(kind, L, **options)
    head = Head("l1", L)
    with pytest.raises(belsim.Error, match=r"want a tensor \(..., 1\)"):
        head.loss(torch.zeros(5), torch.zeros(5))  # it would compare each with each
    with pytest.raises(belsim.Error, match=r"targets of shape \(5, 1\) for outputs of shape \(5, 1\): want \(5,\), a label for each"):
        head.loss(torch.zeros(5, 1), torch.zeros(5, 1))
    made: Any = head
    with pytest.raises(belsim.Error, match=r"fitted = .*Head.*want fit\(\.\.\.\)\.decoder, or the path"):
        belsim.torch.Decoder(made)
    with pytest.raises(belsim.Error, match="no distribution"):
        head.probabilities(torch.zeros(5, 1))
    with pytest.raises(belsim.Error, match="want one of 'mean'"):
        head.decode(torch.zeros(5, 1), "mode")  # type: ignore[arg-type]


def test_types() -> None:
    """Labels of any type give the loss of the same labels in float64, whatever the range; float32 is the type of the losses."""
    from belsim.torch import Head

    for kind, code in EACH:
        for lo, hi in ((0, 15), (250, 4090), (0, 2**26)):
            for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
                most = min(hi, torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max)
                if most <= lo:
                    continue
                y = torch.linspace(lo, most, 40, dtype=torch.float64).round().to(dtype)
                head = Head(kind, L, code=code, range=(lo, hi))
                z = outputs(head, 40).float()
                torch.testing.assert_close(head.loss(z, y), head.loss(z, y.double().clamp(lo, hi)), rtol=1e-6, atol=0)


def test_tensors() -> None:
    """Arrays of torch, of all types and without values."""
    c = torch.tensor(belsim.code("johnson", L))
    z = 4.0 * c - 2
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float64):
        assert belsim.decode(z.to(dtype), c).tolist() == list(range(L))
    meta = torch.zeros(L, c.shape[1], device="meta")
    for call in (
        lambda: belsim.decode(meta, c),
        lambda: belsim.fit("johnson", meta, torch.arange(L), levels=L),
        lambda: belsim.compare(["gray"], levels=8, samples=2, r=torch.tensor(0.1, device="meta")),
        lambda: belsim.torch.Head("bce", L, code=c).loss(meta, torch.arange(L)),
        lambda: belsim.torch.Head("bce", L, code=c).loss(z, torch.zeros(L, device="meta")),
    ):
        with pytest.raises(belsim.Error) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*torch.jit")
@pytest.mark.parametrize("rule", ["mean", "median", "map"])
@pytest.mark.parametrize("reads", ["logits", "bits"])
def test_fitted_decoder(rule: Any, reads: Any, tmp_path: Any) -> None:
    """A decoder in a file gives the labels that the command gives, of any shape of outputs and compiled."""
    from belsim.torch import Decoder

    folder = ROOT / "testdata" / "decoders"
    z = torch.tensor(np.load(folder / "more.npy"))
    decoder = Decoder(folder / "decoder.npz")
    np.testing.assert_allclose(decoder(z), np.load(folder / "labels.npy"), rtol=0, atol=1e-9)
    assert decoder(z.reshape(2, -1, z.shape[1])).shape == (2, len(z) // 2)
    torch.testing.assert_close(torch.compile(decoder, backend="aot_eager", fullgraph=True)(z), decoder(z))

    arrays = {**np.load(folder / "decoder.npz"), "rule": np.array([rule]), "reads": np.array([reads])}
    np.savez(tmp_path / "other.npz", **arrays)
    found = Decoder(tmp_path / "other.npz")(z).numpy()
    x = z.double().numpy() if reads == "logits" else np.where(z > 0, 1.0, -1.0)
    p = special.softmax(x @ arrays["weights"].T + arrays["offsets"], axis=1)
    level = p.argmax(1) if rule == "map" else (p.cumsum(1) >= 0.5 - 1e-9).argmax(1)
    np.testing.assert_allclose(found, p @ arrays["values"] if rule == "mean" else arrays["values"][level], rtol=0, atol=1e-9)
    fitted = belsim.Decoder.load(tmp_path / "other.npz")
    torch.testing.assert_close(Decoder(fitted)(z).numpy(), found)
    for dtype in (torch.float16, torch.bfloat16):
        assert torch.equal(Decoder(fitted).to(dtype)(z), Decoder(fitted)(z)), "the weights of a decoder are not rounded"
    lost = z[:3].clone()
    lost[1, -1] = math.nan
    assert Decoder(fitted)(lost).isnan().tolist() == [False, True, False]
    assert Decoder(fitted).predict_interval(lost).isnan().tolist() == [[False] * 2, [True] * 2, [False] * 2]
    Decoder(fitted).load_state_dict(Decoder(fitted).half().state_dict())
    np.savez(tmp_path / "again.npz", **{**arrays, "offsets": arrays["offsets"] + 1})
    with pytest.raises(RuntimeError, match="offsets: the state is of another decoder than"):
        Decoder(fitted).load_state_dict(Decoder(tmp_path / "again.npz").state_dict(), strict=False)
    assert str(fitted.about["code"]) in repr(Decoder(fitted))
    with pytest.raises(belsim.Error, match=r"torch\.jit\.script cannot compile a Decoder.*torch.compile"):
        torch.jit.script(Decoder(fitted))


def test_other_states() -> None:
    """A state has the range and the code. It is loaded by a head that has the same, of whatever kind, and by no other."""
    from belsim.torch import Head

    made: dict[str, Any] = {
        "mine": Head("bce", L, code="johnson", range=(2.5, 4.0)),
        "same": Head("bce", L, code="johnson", range=(2.5, 4.0), outside="clip"),
        "range": Head("bce", L, code="johnson", range=(2.5, 4.5)),
        "code": Head("bce", L, code=belsim.code("johnson", L)[::-1].copy(), range=(2.5, 4.0)),
        "other code": Head("bce", L, code="unary", range=(2.5, 4.0)),
        "levels": Head("bce", 2 * L, code="johnson", range=(2.5, 4.0)),
        "corn": Head("corn", L),
        "corn, range": Head("corn", L, range=(0, 1)),
    }
    state = {name: torch.nn.Sequential(torch.nn.Linear(3, 3), head).state_dict() for name, head in made.items()}
    assert all(isinstance(v, torch.Tensor) for v in state["mine"].values())  # which every format of files can hold
    others = ("same", "range", "code", "other code", "levels")
    for a, b in [*(("mine", other) for other in others), ("corn", "corn, range")]:
        for strict in (True, False):
            for into, of in ((a, b), (b, a)):
                net = torch.nn.Sequential(torch.nn.Linear(3, 3), made[into])
                before = {name: v.clone() for name, v in made[into].named_buffers()}
                if b == "same":
                    net.load_state_dict(state[of], strict=strict)
                    continue
                with pytest.raises(RuntimeError, match="the state is of a head"):
                    net.load_state_dict(state[of], strict=strict)
                assert all(torch.equal(v, before[name]) for name, v in made[into].named_buffers())


@pytest.mark.filterwarnings("ignore")  # torch.jit is old, and traces what is compared in Python as constants
def test_shown_heads() -> None:
    """A head says what it is, and why torch.jit.script cannot compile it."""
    from belsim.torch import Head

    head = Head("soft", L, code="johnson", sigma=0.5, range=(2.5, 4.0))
    assert str(head) == "Head('soft', levels=16, code='johnson', sigma=0.5, outputs=8, range=(2.5, 4.0))"
    assert str(Head("corn", L)) == "Head('corn', levels=16, outputs=15, range=(0.0, 15.0))"
    assert "code='a matrix'" in str(Head("ce", L, code=belsim.code("gray", L)))
    for network in (head, torch.nn.Sequential(torch.nn.Linear(2, 8), head)):
        with pytest.raises(belsim.Error, match=r"torch\.jit\.script cannot compile a Head.*torch.compile"):
            torch.jit.script(network)
    z = outputs(head, 5).float()
    torch.testing.assert_close(torch.jit.trace(head, z)(z), head(z))


@pytest.mark.parametrize("name", ["unary", "johnson", "hexj"])
def test_intervals(name: str, tmp_path: Any) -> None:
    """Intervals are those of the command, to the rounding of sums; they widen with the confidence, and are refused alike."""
    from belsim.torch import Decoder

    rng = np.random.default_rng(46)
    level = rng.integers(0, 16, 400)
    words = belsim.code(name, 16)[np.clip(level + rng.integers(-1, 2, 400), 0, 15)]
    z = 3.0 * words - 1.5 + rng.normal(size=words.shape)
    cases: list[tuple[Any, Any]] = [("logits", "bce"), ("logits", "ce"), ("bits", "bce")]
    for kind, training in cases:
        x = z if kind == "logits" else (z > 0).astype(float)
        y = level / 4 - 7
        fitted = belsim.fit(name, x, y, range=(-7, -3.25), levels=16, kind=kind, training=training, fit_decoder=True).decoder
        module = Decoder(fitted)
        assert module.sorted == (name == "unary" and training == "bce" and module.reads == "logits")
        found = module.predict(torch.tensor(z), "full")["probabilities"]
        np.testing.assert_allclose(found, fitted.probabilities(x, kind=kind), rtol=0, atol=1e-9)
        wide = np.zeros(400)
        for confidence in (0.1, 0.5, 0.9, 0.99):
            want = fitted.predict_interval(x, confidence, kind=kind)
            found = module.predict_interval(torch.tensor(z), confidence).numpy()
            np.testing.assert_allclose(found, want, rtol=0, atol=1e-9)
            width = want[:, 1] - want[:, 0]
            assert (width >= wide).all()
            assert want.min() >= -7 - 1e-12
            assert want.max() <= -3.25 + 1e-12
            wide = width
        folded = fitted.predict_interval(x.reshape(100, 4, -1), kind=kind)
        np.testing.assert_array_equal(folded.reshape(400, 2), fitted.predict_interval(x, 0.9, kind=kind))
        for call in (fitted.predict_interval, module.predict_interval):
            for confidence, match in ((0.999, r"at most 0\.995"), (1.5, "want a number between 0 and 1"), (0.0, "want a positive")):
                with pytest.raises(belsim.Error, match=match):
                    call(torch.tensor(z) if call == module.predict_interval else x, confidence)


SPREAD = [0, 0.88, 9.6, 95, 1e3, 2e5, 3e6, 4e9]
JULIAN = [2450000.5, 2450000.6, 2450000.8, 2450001.0, 2450001.1, 2450001.3, 2450001.4, 2450001.5]


@pytest.mark.parametrize("values", [SPREAD, JULIAN, np.sinh(np.linspace(-12, 12, 8)).tolist(), (2450000.0, 2450000.7), (-1e300, 1e300)])
@pytest.mark.parametrize("rule", ["mean", "median", "map"])
def test_single_precision(rule: Any, values: Any) -> None:
    """Outputs in float32 give labels that are right to 1e-6 of the distance of neighbouring levels, over ten orders, with gradients."""
    from belsim.torch import Head

    even = len(values) == 2
    v = np.linspace(0, 1, 8) * (values[1] / 2 - values[0] / 2) * 2 + values[0] if even else np.array(values, dtype=float)
    gap = np.minimum(np.diff(v, prepend=-np.inf), np.diff(v, append=np.inf))
    options = {"range": values} if even else {"values": values}
    cases: list[tuple[Any, str]] = [("ce", "onehot"), ("soft", "unary"), ("bce", "johnson"), ("l1", "hexj")]
    for kind, code in cases:
        head = Head(kind, 8, code=code, **options)
        sure = torch.tensor(400 * (2.0 * belsim.code(code, 8) - 1), dtype=torch.float32)
        assert (np.abs(head.decode(sure, rule).numpy() - v) <= 1e-6 * gap).all(), (kind, code)
        if rule == "mean":
            z = outputs(head, 50).float()
            p = special.softmax(z.double().numpy() @ belsim.code(code, 8).T, axis=1)
            np.testing.assert_allclose(head.decode(z), p @ v, rtol=1e-12, atol=1e-12 * np.abs(v).max())
            z.requires_grad_()
            assert torch.autograd.grad((head.decode(z) / np.abs(v).max()).sum(), z)[0].isfinite().all()
        assert all(buffer.dtype == torch.float32 for buffer in head.buffers())  # some devices have no float64


def test_masked_levels() -> None:
    """A level whose output is −∞ has probability 0; losses are torch's, and gradients are finite."""
    from belsim.torch import Head

    z = outputs(Head("ce", 8, code="onehot"), 6)
    z[:, [0, 5]] = -math.inf
    y = torch.tensor([1.0, 2, 3, 4, 6, 7], dtype=torch.float64)
    rest = [1, 2, 3, 4, 6, 7]
    kinds: list[Any] = ["ce", "soft", "l1", "l2"]
    for kind in kinds:
        head = Head(kind, 8, code="onehot")
        p = head.probabilities(z)
        assert (p[:, [0, 5]] == 0).all()
        torch.testing.assert_close(p[:, rest], z[:, rest].softmax(-1))
        leaf = z.clone().requires_grad_()
        loss = head.loss(leaf, y)
        assert torch.autograd.grad(loss, leaf)[0].isfinite().all()
        if kind == "ce":
            torch.testing.assert_close(loss.detach(), torch.nn.functional.cross_entropy(z, y.long()))
        for rule in ("mean", "median", "map"):
            assert head.decode(z, rule).isfinite().all()
    assert Head("ce", 8, code="onehot").loss(z, y * 0) == math.inf  # as torch says of a label that is masked
    cases: list[tuple[Any, str | None]] = [("bce", "johnson"), ("ce", "johnson"), ("corn", None)]
    for kind, code in cases:
        head = Head(kind, 8, code=code)
        z = outputs(head, 6)
        z[:, -1] = -math.inf
        level = 2 if code is None else int(belsim.code(code, 8)[:, -1].argmin())  # that has this bit 0
        assert head.decode(z).isfinite().all() and head.loss(z, y * 0 + level).isfinite()


def test_widths_of_targets() -> None:
    """Soft targets of every width are distributions, and widths where the formula changes give the same."""
    from belsim.torch import Head

    y = torch.tensor([0.0, 3.3, 15.0])
    for sigma in (1e-300, 1e-30, 1e-9, 1e3, 1e8, 1e300):
        p = Head("soft", L, code="johnson", sigma=sigma).target(y)
        torch.testing.assert_close(p.sum(-1), torch.ones(3))
    p, q = (Head("soft", L, code="johnson", sigma=sigma).target(y.double()) for sigma in (100, 100 * (1 + 1e-12)))
    torch.testing.assert_close(p, q, rtol=1e-8, atol=0)


def test_weights() -> None:
    """A weight is as many copies of a sample; a label of weight 0, and one that is missing of several outputs, does not count."""
    from belsim.torch import Head

    for kind, code in EACH:
        head = Head(kind, L, code=code)
        z, y = outputs(head, 6), labels(6)
        w = torch.tensor([1, 2, 0, 3, 1, 0])
        twice = torch.repeat_interleave(torch.arange(6), w)
        torch.testing.assert_close(head.loss(z, y, w), head.loss(z[twice], y[twice]))
        torch.testing.assert_close(head.loss(z, y, 2.5 * w.double()), head.loss(z, y, w))
        missing = y.clone()
        missing[[2, 5]] = math.nan
        leaf = z.clone().requires_grad_()
        loss = head.loss(leaf, missing, w)
        torch.testing.assert_close(loss.detach(), head.loss(z, y, w))
        assert torch.autograd.grad(loss, leaf)[0].isfinite().all()
        known = ~missing.isnan()
        several = head.loss(z.reshape(3, 2, -1), missing.reshape(3, 2))
        torch.testing.assert_close(several, head.loss(z[known], y[known]))
        with pytest.raises(belsim.Error, match="want finite numbers"):
            head.loss(z, missing)
    for wrong, text in ((-w, "weights: want finite numbers of 0 or more"), (w[:2], r"weights of shape \(2,\).*one for each")):
        with pytest.raises(belsim.Error, match=text):
            head.loss(z, y, wrong)


def test_probabilities_as_outputs() -> None:
    """Outputs after a softmax or a sigmoid are no logits, and a warning says so; logits of any size give none."""
    from belsim.torch import Head

    z = torch.randn(64, L, generator=torch.Generator().manual_seed(1))
    softmax, y = Head("ce", L, code="onehot"), labels(64).float()
    bits = Head("bce", L, code="unary")
    p = z.softmax(-1)
    calls: list[tuple[Any, Any, str]] = [
        (softmax.loss, (p, y), "softmax"),
        (softmax.decode, (p.half(),), "softmax"),
        (softmax, (p,), "softmax"),
        (bits.loss, (z[:, 1:].sigmoid(), y), "sigmoid"),
        (bits.decode, (z[:, 1:].sigmoid(),), "sigmoid"),
    ]
    for call, given, what in calls:
        with pytest.warns(UserWarning, match=f"a {what}"):
            call(*given)
    with pytest.warns(UserWarning, match="the exponentials of every row add up to 1"):
        bits.decode(z[:, 1:].log_softmax(-1))
    softmax.loss(z.log_softmax(-1), y)  # these are logits of a softmax
    for scale in (0, 1e-6, 1, 100):  # a warning is an error here
        softmax.loss(scale * z, y)
        bits.decode(scale * z[:, 1:])
    Head("l1", L).decode(torch.rand(64, 1))


def test_meta() -> None:
    """A head that is made on the device meta, or emptied, has its code and its levels."""
    from belsim.torch import Head

    def network() -> Any:
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(2, 8), Head("bce", 8, code="onehot", values=np.arange(8.0) ** 2))

    want = network()
    for how in ("assign", "empty", "reset"):
        with torch.device("meta"):
            made = network()
        if how == "assign":
            made.load_state_dict(want.state_dict(), assign=True)
        else:
            made.to_empty(device="cpu")
            if how == "reset":
                made[1].matrix.zero_()
                made[1].reset_parameters()
            made.load_state_dict(want.state_dict())
        x = torch.ones(1, 2)
        torch.testing.assert_close(made(x), want(x), rtol=0, atol=0)
    assert Head("l1", 8).loss(torch.zeros(1), torch.tensor(3.0)) == 0.5  # one output of one sample
    assert Head("ce", 8, code="onehot").loss(torch.zeros(8), torch.tensor(3.0)).ndim == 0


def test_help() -> None:
    """help fits three screens: what is here, not all of nn.Module; tab completion has both."""
    import pydoc

    import belsim.torch

    assert len(pydoc.render_doc(belsim.torch).splitlines()) < 200
    assert {"parameters", "decode"} <= set(dir(belsim.torch.Head("l1", 8)))


@pytest.mark.parametrize("ends", [None, (2.5, 4.3), 2.5 + 1.8 * (np.arange(8) / 7), 2.5 + 1.8 * (np.arange(8) / 7) ** 2])
@pytest.mark.parametrize("name", ["unary", "johnson", "onehot"])
def test_decoder_of_both(name: str, ends: Any) -> None:
    """The module, the command and Python read the same labels and intervals: with levels, a range, even and uneven values."""
    from belsim.torch import Decoder, Head

    rng = np.random.default_rng(5)
    level = rng.integers(0, 8, (400, 2))
    words = belsim.code(name, 8)[np.clip(level + rng.integers(-1, 2, level.shape), 0, 7)]
    z = 3.0 * words - 1.5 + rng.normal(size=words.shape)
    y = level if ends is None else belsim.dequantize(level, ends, 8)
    one = belsim.fit(name, z[:, 0], y[:, 0], range=ends, levels=8)
    several = belsim.fit(name, z, y, range=ends, levels=8)
    for k, fitted in ((0, one.decoder), (0, several.each[0].decoder), (1, several.each[1].decoder)):
        module, x = Decoder(fitted), torch.tensor(z[:, k])
        found = fitted.decode(z[:, k], kind="logits")
        np.testing.assert_allclose(module(x), found, rtol=0, atol=1e-9)
        np.testing.assert_allclose(module.predict_interval(x), fitted.predict_interval(z[:, k], kind="logits"), rtol=0, atol=1e-9)
        assert np.abs(found - y[:, k]).mean() < 1
    kinds: list[Any] = ["ce", "bce"]
    for kind in kinds:
        options: Any = {} if ends is None else {"range": ends} if len(ends) == 2 else {"values": ends}
        head = Head(kind, 8, code=name, **options)
        want = belsim.decode(z, name, "gen-ex", levels=8, kind="logits", range=ends)
        np.testing.assert_allclose(head.decode(torch.tensor(z)), want, rtol=1e-12)


def test_predict() -> None:
    """Labels by probabilities are those of ``belsim.decode``; of unary bits the probabilities descend, with gradients."""
    from belsim.torch import Head

    rng = np.random.default_rng(1)
    cases: Any = (("bce", "unary"), ("ce", "unary"), ("bce", "johnson"))
    for kind, code in cases:
        head = Head(kind, 16, code=code, range=(10, 25))
        z = rng.normal(0, 2, (5, 40, head.outputs))
        by = "bel-u" if (kind, code) == ("bce", "unary") else "gen-ex"
        want = belsim.decode(z, code, by, levels=16, range=(10, 25), kind="logits", output_type="full")
        for dtype, near in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
            got = head.predict(torch.tensor(z, dtype=dtype), "full")
            assert (got["probabilities"] >= 0).all() and got["mean"].shape == (5, 40)
            for name in ("probabilities", "mean", "values"):
                np.testing.assert_allclose(got[name].numpy(), want[name], atol=near, rtol=near)
        names: Any = ("median", "mode")
        for name in names:
            np.testing.assert_allclose(head.predict(torch.tensor(z), name).numpy(), want[name], atol=1e-9)
        some = head.predict(torch.tensor(z), "quantiles", [0.2, 0.8])
        np.testing.assert_allclose(np.stack(some), np.stack(want["quantiles"])[[1, 7]])
        x = torch.tensor(z, requires_grad=True)
        head.predict(x).sum().backward()
        assert x.grad is not None and x.grad.isfinite().all() and (x.grad > 0).any()


def test_bound() -> None:
    """The mean error of the most probable level is never above the bound by the loss, which of unary is the summed BCE in bits."""
    from belsim.torch import Head

    rng = np.random.default_rng(1)
    for code, values in (("unary", None), ("johnson", None), ("b1jdj", None), ("hadamard", None), ("johnson", np.arange(16.0) ** 2)):
        head = Head("bce", 16, code=code, values=values)
        y = torch.tensor(rng.uniform(0, head.range[1], 500))
        at = torch.tensor(np.arange(16.0) if values is None else values)
        n = (y[:, None] - at).abs().argmin(1)
        for size in (0.1, 1, 5):
            z = torch.tensor(rng.normal(0, size, (500, head.outputs))) + size * (2 * head.matrix[n] - 1)
            apart = (head.decode(z, "map") - at[n]).abs().mean() * 15 / head.range[1]
            assert apart <= head.bound(z, y)
            if code == "unary":
                assert torch.isclose(head.bound(z, y), head.loss(z, y) * head.outputs / math.log(2))
        z.requires_grad_()
        head.bound(z, y).backward()
        assert z.grad is not None and z.grad.isfinite().all()


def _defined(z: Any, c: Any) -> Any:
    """The distributions of outputs, of a code or (None) of CORN, by their definition: NaN where there is none."""
    if c is None:
        above = special.expit(z).cumprod(1)
        return -np.diff(above, axis=1, prepend=1.0, append=0.0) + 0 * above[:, -1:]
    masked = np.isneginf(z)
    s = np.where(masked, 0, z) @ c.T
    s[(masked @ c.T) > 0] = -np.inf
    return special.softmax(s, axis=1)  # of +∞, of NaN, and where all levels are masked, NaN


@pytest.mark.filterwarnings("ignore:invalid value")
def test_readers_agree() -> None:
    """300 random heads, on lines and circles, and all that reads their outputs: one label, the one of the definition, or none.

    Modules give NaN for outputs that have no label, and take −∞ for masked; arrays must be finite.
    """
    from scipy.optimize import isotonic_regression

    from belsim.torch import Decoder, Head

    rng = np.random.default_rng(7)
    codes = {(name, n): belsim.code(name, n) for name in ("unary", "johnson", "onehot", "gray", "hexj") for n in (4, 16)}
    for draw in range(300):
        n = int(rng.choice([4, 16]))
        kind: Any = rng.choice(["bce", "ce", "soft", "l1", "l2", "corn"])
        c = None if kind == "corn" else codes[str(rng.choice(["unary", "johnson", "onehot", "gray", "hexj"])), n].astype(float)
        circular, uneven = rng.uniform(size=2) < 0.3
        v = np.arange(n) * 1.0 if circular or not uneven else rng.uniform(0.1, 2, n).cumsum()
        head = Head(kind, n, code=c, circular=bool(circular), values=None if circular else v)
        z = 3 * rng.standard_normal((8, head.outputs))
        for row, wrong in zip(z[:3], (-np.inf, np.inf, np.nan), strict=True):
            row[rng.integers(head.outputs)] = wrong
        p, t = _defined(z, c), torch.tensor(z)
        turn = p @ np.exp(2j * np.pi * np.arange(n) / n)
        mean = np.angle(turn) * n / (2 * np.pi) % n if circular else p @ v
        top = np.where(np.isnan(p).any(1), np.nan, v[p.argmax(1)])
        np.testing.assert_allclose(head.decode(t), mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(head.decode(t, "map"), top)
        if c is not None:
            rule = rng.choice(["mean", "map"])
            sums: dict[str, Any] = {"weights": c, "offsets": np.zeros(n), "values": v}
            arrays = sums | {"residuals": [], "floor": 0, "sigmas": ["scores"]}
            about = {"bits": 1, "code": "", "kind": "", "levels": n, "reads": "", "rule": "", "unit": "", "circular": bool(circular)}
            np.savez(file := io.BytesIO(), rule=[rule], reads=["logits"], about=[json.dumps(about)], **arrays)
            module = Decoder(belsim.Decoder(file.getvalue()))
            np.testing.assert_allclose(module(t), mean if rule == "mean" else top, rtol=1e-9, atol=1e-9)
            if circular:
                for read in (head, module):
                    with pytest.raises(belsim.Error, match="of levels on a circle want labels"):
                        read.predict(t, "mean")
            else:
                np.testing.assert_allclose(module.predict(t, "mean"), p @ v, rtol=1e-9, atol=1e-9)
                np.testing.assert_array_equal(module.predict(t, "mode"), top)
            more: Any = {"kind": "logits", "circular": bool(circular), "range": None if circular else v}
            for decoder, want in ("gen-ex", mean), ("gen", top):
                np.testing.assert_allclose(belsim.decode(z[3:], c, decoder, **more), want[3:], rtol=1e-9, atol=1e-9)
                for row in z[:3]:
                    with pytest.raises(belsim.Error, match="outputs: want finite numbers"):
                        belsim.decode(row, c, decoder, **more)
        if circular:
            continue
        sigmoids = kind == "bce" and head.unary
        if sigmoids:  # of +∞, 1
            above = special.expit(z)
            above = np.array([row if np.isnan(row).any() else isotonic_regression(row, increasing=False).x for row in above])
            p = -np.diff(above, axis=1, prepend=1.0, append=0.0) + 0 * above.sum(1, keepdims=True)
        full, upto, nothing = head.predict(t, "full", [0.1, 0.9]), p.cumsum(1), 0 * p.sum(1)
        np.testing.assert_allclose(full["mean"], p @ v, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(full["mode"], v[(p > p.max(1, keepdims=True) - 1e-9).argmax(1)] + nothing)
        quantiles = [v[(upto < q * (1 - 1e-9)).sum(1).clip(max=n - 1)] + nothing for q in (0.1, 0.5, 0.9)]
        np.testing.assert_array_equal([full["quantiles"][0], full["median"], full["quantiles"][1]], quantiles)
        if draw % 40 == 0 and c is not None and (sigmoids or not head.unary):
            by = belsim.decode(z[3:], c, "auto", kind="logits", range=v, output_type="full", quantiles=[0.1, 0.9])
            np.testing.assert_allclose(by["mean"], full["mean"][3:], rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(by["quantiles"], np.array(full["quantiles"])[:, 3:])


def test_weights_of_any_size() -> None:
    """A factor of all weights changes nothing. What is no weight is refused, and what has none is not read."""
    from belsim.torch import Head

    w = torch.tensor([0.0, 1, 2, 0, 5, 1], dtype=torch.float64)
    for kind, code in EACH:
        for head in (Head(kind, L, code=code), Head(kind, L, code=code, values=np.arange(L) ** 2.0)):
            z, y = outputs(head, 6), labels(6)
            few = z[w > 0].clone().requires_grad_()
            of = torch.stack([head.loss(few[i : i + 1], y[w > 0][i : i + 1]) for i in range(4)])
            terms = belsim.quantize(y[w > 0], (0, L - 1), L).clip(max=L - 2) + 1 if kind == "corn" and not head.uneven else None
            share = w[w > 0] * (1.0 if terms is None else torch.tensor(terms))
            for factor in (1, 3e38, 1e-50):
                if kind == "corn" and head.uneven:
                    continue  # the number of terms of a mean
                lost = z.clone()
                lost[w == 0] = math.nan
                lost.requires_grad_()
                loss = head.loss(lost, torch.where(w > 0, y, math.nan), factor * w)
                want = (of * share).sum() / share.sum()
                assert loss.item() == pytest.approx(want.item(), rel=1e-9), (kind, factor)
                (gradient,) = torch.autograd.grad(loss, lost)
                (plain,) = torch.autograd.grad(want, few, retain_graph=True)
                np.testing.assert_allclose(gradient[w > 0], plain, rtol=1e-7, atol=1e-12)
                assert (gradient[w == 0] == 0).all()
            wrong: Any
            for wrong in (-w, torch.where(w == 5, math.inf, w), torch.where(w == 0, math.nan, w), 2.0, [1.0] * 6):
                for each in (head, Head(kind, L, code=code, outside="clip")):
                    with pytest.raises(belsim.Error, match=r"^weights"):
                        each.loss(z, y, wrong)
    lost = torch.tensor([0.0, math.nan, 3.0])
    assert Head("bce", L, code="unary", outside="clip").bound(torch.zeros(3, L - 1), lost).isnan()
    with pytest.raises(belsim.Error, match="outputs: all are 1 or 255, which is −1 in uint8"):
        Head("bce", L, code="unary").decode(torch.full((2, L - 1), 255, dtype=torch.uint8))
