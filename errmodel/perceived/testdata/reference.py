"""The perceived-label model, as README.md has it, in NumPy.

Reads settings as JSON from standard input, a list, and writes a list of what each gives.
"""
import json, math, sys
import numpy as np

WAVES, erfc = 44, np.vectorize(math.erfc)


def learn(code, s, prior, cutoff, misfit, floor, training):
    """The grid of perceived labels, and on it the logits of all bits, G x M; and their residuals sd."""
    levels, bits = code.shape
    cutoff, floor = cutoff or 1.2 * (levels / s) ** 0.75, floor or 0.2
    points = int(min(max(math.ceil((levels + 7 * s) / min(max(s / 3, 0.12), levels / 64)), 64), 600))
    y = np.linspace(1 - 3.5 * s, levels + 3.5 * s, points)
    step = y[1] - y[0]
    prior = prior / prior.sum()
    if training != "bce":
        prior = np.maximum(prior, 0.01 / levels)
    n = np.arange(1, levels + 1)[:, None]
    z = (y - n) / max(s, step / 16)
    joint = np.exp(-(z**2) / 2) * ((abs(z) <= 8) | (abs(y - n) == abs(y - n).min(1, keepdims=True)))
    joint *= (prior / prior.sum() / joint.sum(1))[:, None]
    w = joint.sum(0)
    p = joint.T @ code / np.where(w > 0, w, 1)[:, None]
    span = max(levels - 1, 1)
    j = np.arange(1, WAVES + 1)
    waves = np.sqrt(2) * np.cos(np.pi * j * np.linspace(0, 1, points)[:, None])
    x = np.column_stack([np.ones(points), np.sqrt(12) * ((y - 1) / span - 0.5), waves])
    cycles = np.concatenate([[0, 0], j / 2 / (step * (points - 1) / span)])
    constant = (code == code[0]).all(0)
    energy = ((x.T @ (w[:, None] * (2 * p - 1))) ** 2).sum(1)
    kernel = np.exp(-((j[:, None] - j) ** 2) / 8)  # from cosine to cosine, 2 wide
    energy[2:] = kernel / kernel.sum(0) @ energy[2:]
    share = np.maximum(energy / (bits + 3 * constant.sum()), 1e-9)
    penalty = (cycles / cutoff) ** 4 / share**1.25
    if training == "ce":
        return y, *learn_decoder(code, x, w, p, penalty + 1.1e-6, joint, step, misfit, floor)
    if training in ("l1", "l2"):
        return y, *learn_mean(code, s, x, w, p, penalty + 1.1e-6, joint, step, misfit, training == "l2")
    f, sd = np.empty((points, bits)), np.zeros(bits)
    for k in range(bits):
        if constant[k]:
            f[:, k] = 40 * code[0, k] - 20
            continue
        ones = w @ p[:, k]
        f[:, k] = x @ newton(x, w, p[:, k], penalty / max(4 * ones * (1 - ones), 1e-4) + 1e-7)
        slope = np.gradient(f[:, k], step)  # central differences, one-sided at the ends
        variance = w @ (f[:, k] - w @ f[:, k]) ** 2
        sd[k] = math.sqrt(misfit**2 * (w @ slope**2) + 1 / (1 / floor**2 + 1 / (1.75**2 * (variance + 1e-12))))
    return y, f, sd


def newton(x, w, p, penalty):
    """The coefficients of the least cross-entropy with its penalty, up to a step that gains less than 1e-9."""
    loss = lambda b: w @ (np.logaddexp(0, x @ b) - p * (x @ b)) + penalty @ b**2 / 2
    clear = np.clip(p, 1e-8, 1 - 1e-8)
    weight = w * clear * (1 - clear)
    b = np.linalg.solve((x.T * weight) @ x + np.diag(penalty), x.T @ (weight * np.log(clear / (1 - clear))))
    for _ in range(30):
        q = 1 / (1 + np.exp(-np.clip(x @ b, -700, 700)))
        hessian = (x.T * (w * np.maximum(q * (1 - q), 1e-9))) @ x + np.diag(penalty)
        d = np.linalg.solve(hessian, x.T @ (w * (q - p)) + penalty * b)
        steps = [b - d / 2**i for i in range(12)]
        lower = next((c for c in steps if loss(c) < loss(b)), None)
        if lower is None:
            break
        b, gain = lower, loss(b) - loss(lower)
        if gain < 1e-9:
            break
    return b


def cross_entropy(code, x, w, p, penalty, joint):
    """The coefficients of the least cross-entropy of softmax(f C^T), by Newton's method for all bits at once."""
    waves, bits = x.shape[1], code.shape[1]

    def scores(b):
        z = x @ b @ code.T
        return z, np.log(np.exp(z - z.max(1, keepdims=True)).sum(1)) + z.max(1)

    def loss(b):
        z, total = scores(b)
        return w @ total - (joint.T * z).sum() + (penalty @ b**2).sum() / 2

    b, gain = np.zeros((waves, bits)), 1.0
    while gain > 1e-13:
        z, total = scores(b)
        q = np.exp(z - total[:, None])
        gradient = x.T @ (w[:, None] * (q @ code - p)) + penalty[:, None] * b
        mean = q @ code
        of_bits = np.einsum("gn,nk,nl->gkl", q, code, code, optimize=True) - mean[:, :, None] * mean[:, None]
        pairs = (w[:, None, None] * x[:, :, None] * x[:, None]).reshape(len(x), -1)  # of waves
        hessian = (pairs.T @ of_bits.reshape(len(x), -1)).reshape(waves, waves, bits, bits)
        hessian = hessian.transpose(0, 2, 1, 3).reshape(waves * bits, -1) + np.diag(np.repeat(penalty, bits))
        d = np.linalg.solve(hessian, gradient.ravel()).reshape(b.shape)
        before = loss(b)
        step_size = 1.0
        while loss(b - step_size * d) > before and step_size > 1e-9:
            step_size /= 2
        b = b - step_size * d
        gain = before - loss(b)
    return b


def learn_decoder(code, x, w, p, penalty, joint, step, misfit, floor):
    """The logits of the least cross-entropy, and their residuals."""
    f = x @ cross_entropy(code, x, w, p, penalty, joint)
    change = np.diff(code, axis=0)
    d = abs(change).sum(1)  # bits that differ between two levels share the misfit of one
    square = np.array([w @ np.gradient(f @ c, step) ** 2 for c in change]) / np.maximum(d, 1)
    count = np.maximum(abs(change).sum(0), 1)
    slope, small = square @ abs(change) / count, floor**2 * 0.25 * (1 / np.maximum(d, 1)) @ abs(change) / count
    variance = w @ (f - w @ f) ** 2
    sd = np.sqrt(misfit**2 * slope + 1 / (1 / np.maximum(small, 1e-300) + 1 / (1.75**2 * (variance + 1e-12))))
    constant = (code == code[0]).all(0)
    return np.where(constant, 40 * code[0] - 20, f), np.where(constant, 0, sd)


def learn_mean(code, s, x, w, p, penalty, joint, step, misfit, squared):
    """The logits of the least error of the mean of softmax(f C^T), by the damped Gauss-Newton method from the least cross-entropy."""
    levels = np.arange(1, len(code) + 1)
    scale = 1 / s**2 if squared else math.sqrt(math.pi / 2) / s

    def means(b):
        z = x @ b @ code.T
        q = np.exp(z - z.max(1, keepdims=True))
        q /= q.sum(1, keepdims=True)
        mu = q @ levels
        return mu, (q * (levels - mu[:, None])) @ code  # and its derivatives by the logits

    def loss(b):
        d = abs(means(b)[0][:, None] - levels)
        each = d**2 / 2 if squared else np.where(d < 1 / 2, d**2 + 1 / 4, d)
        return scale * (joint.T * each).sum() + (penalty @ b**2).sum() / 2

    b, damping, gain = cross_entropy(code, x, w, p, penalty, joint), 1e-3, 1.0
    for _ in range(300):
        mu, by = means(b)
        d = mu[:, None] - levels
        slope = scale * (joint.T * (d if squared else np.clip(2 * d, -1, 1))).sum(1)
        curvature = scale * (w if squared else (joint.T * 2 * (abs(d) < 1 / 2)).sum(1))
        jacobian = (x[:, :, None] * by[:, None]).reshape(len(x), -1)
        gradient = (jacobian.T @ slope).reshape(b.shape) + penalty[:, None] * b
        hessian = (jacobian.T * curvature) @ jacobian + np.diag(np.repeat(penalty, code.shape[1]))
        while damping < 1e9:
            new = b - np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), gradient.ravel()).reshape(b.shape)
            gain = loss(b) - loss(new)
            damping = damping / 4 if gain > 0 else damping * 8
            if gain > 0:
                b = new
                break
        if gain < 1e-9:
            break
    f = x @ b
    mu, by = means(b)
    slopes = np.array([w @ np.gradient(v, step) ** 2 for v in f.T])
    share = (w @ np.gradient(mu, step) ** 2) / (w @ by**2 @ slopes)
    return np.where((code == code[0]).all(0), 40 * code[0] - 20, f), misfit * np.sqrt(share * slopes)


def logits(y, f, at):
    """Cubics through four points of the grid; beyond the grid its last value."""
    t = np.clip((at - y[0]) / (y[1] - y[0]), 0, len(y) - 1)
    first = np.clip(t.astype(int) - 1, 0, len(y) - 4)
    out = 0
    for i in range(4):
        weight = np.prod([(t - first - m) / (i - m) for m in range(4) if m != i], axis=0)
        out = out + weight[:, None] * f[first + i]
    return out


def answer(code, s, prior, cutoff, misfit, floor, training, level, noise, residual):
    code, prior, level = np.array(code, float), np.array(prior), np.array(level)
    y, f, sd = learn(code, s, prior, cutoff, misfit, floor, training)
    z = logits(y, f, level + s * np.array(noise)) + sd * np.array(residual)
    hard = np.argmax(np.where(z > 0, 1, -1) @ code.T, axis=1) + 1  # gen on signs
    q = z @ code.T
    q = np.exp(q - q.max(1, keepdims=True))
    soft = q @ np.arange(1, len(code) + 1) / q.sum(1)  # gen-ex on logits
    # The error probabilities of bits at each level, over the 64 strata of the noise.
    n = np.repeat(np.arange(1, len(code) + 1), 64)
    a = logits(y, f, n + s * np.tile(strata(), len(code)))
    a = np.where(np.repeat(code, 64, axis=0) > 0, a, -a)
    with np.errstate(divide="ignore"):
        wrong = erfc(a / (np.sqrt(2) * sd)) / 2
    wrong = wrong.reshape(len(code), 64, -1).mean(1)
    return {"SD": sd.tolist(), "Hard": abs(hard - level).mean(), "Soft": abs(soft - level).mean(), "Wrong": wrong.tolist()}


def strata():
    """The means of the standard normal law in 64 parts of equal probability."""
    from statistics import NormalDist
    law = NormalDist()
    density = [0, *(law.pdf(law.inv_cdf(j / 64)) for j in range(1, 64)), 0]
    return -64 * np.diff(density)


if __name__ == "__main__":
    json.dump([answer(**setting) for setting in json.load(sys.stdin)], sys.stdout)
