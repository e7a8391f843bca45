"""The straightforward sampler that belsim's is compared with in the README.

One uniform number for every bit of every sample: johnson-nonzero of 255 levels
(128 bits), r = 2, sigma = 5, decoder bel-j, in Numba (on all cores) and NumPy.
Needs numpy and numba:  python montecarlo/testdata/dense.py
"""

import math
import time

import numba
import numpy as np

M, R, SIGMA = 128, 2.0, 5.0
L = 2 * M - 1

code = np.zeros((L, M), dtype=np.bool_)
for n in range(1, L + 1):
    for k in range(1, M + 1):
        code[n - 1, k - 1] = M - n < k <= 2 * M - n
e = np.zeros((L, M))
for k in range(M):
    for n in range(1, L):
        if code[n - 1, k] != code[n, k]:
            levels = np.arange(1, L + 1)
            e[:, k] += R / (SIGMA * math.sqrt(2 * math.pi)) * np.exp(-((levels - n - 0.5) ** 2) / (2 * SIGMA**2))


@numba.njit(parallel=True, fastmath=True)
def dense_numba(code, e, samples):
    levels, bits = code.shape
    total = np.zeros(levels)
    for n in numba.prange(levels):
        for _ in range(samples):
            first, last = 0, 0
            for k in range(bits):
                if code[n, k] != (np.random.random() < e[n, k]):
                    if first == 0:
                        first = k + 1
                    last = k + 1
            label = 2 * bits + 1 - first - last if last > 0 else bits
            total[n] += abs(label - (n + 1))
    return total / samples


def dense_numpy(code, e, samples):
    levels, bits = code.shape
    rng = np.random.default_rng(1)
    total = np.zeros(levels)
    for n in range(levels):
        out = code[n] ^ (rng.random((samples, bits), dtype=np.float32) < e[n])
        first = out.argmax(axis=1) + 1
        last = bits - out[:, ::-1].argmax(axis=1)
        label = np.where(out.any(axis=1), 2 * bits + 1 - first - last, bits)
        total[n] = np.abs(label - (n + 1)).mean()
    return total


def measure(name, sampler, samples):
    sampler(code, e, 10)  # compiles
    best = min(timed(sampler, samples) for _ in range(3))
    print(f"{name}: {best[1]:.4f} levels, {L * samples / best[0] / 1e6:.2f} million samples/s")


def timed(sampler, samples):
    start = time.perf_counter()
    mean = sampler(code, e, samples).mean()
    return time.perf_counter() - start, mean


measure("Numba", dense_numba, 20000)
measure("NumPy", dense_numpy, 5000)
