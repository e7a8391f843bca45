"""The reference workload of BenchmarkDevice as a dense sampler, on the device that
PyTorch and CuPy find: johnson-nonzero, 255 levels, r = 2, σ = 5, read by bel-j.
Every bit of every sample is drawn; nothing else is possible with array operations.

    python gpu/testdata/dense.py [cuda|cpu]
"""
import math, sys, time

LEVELS, R, SIGMA = 255, 2.0, 5.0
BITS = (LEVELS + 2) // 2

def model(xp):
    """Code words and error probabilities, one row for each level."""
    n = xp.arange(1, LEVELS + 1).reshape(-1, 1)
    k = xp.arange(1, BITS + 1).reshape(1, -1)
    code = (k > BITS - n) & (k <= 2 * BITS - n)
    mu = xp.arange(1, LEVELS).reshape(-1, 1) + 0.5
    flips = (code[1:] != code[:-1]).astype("float64")
    gauss = xp.exp(-((n - mu.reshape(1, -1)) ** 2) / (2 * SIGMA**2)) * (R / (SIGMA * math.sqrt(2 * math.pi)))
    return code, gauss @ flips

def with_torch(device, seconds, batch):
    import numpy, torch
    code, e = model(numpy)
    code, e = torch.from_numpy(code).to(device), torch.from_numpy(e).float().to(device)
    k = torch.arange(1, BITS + 1, device=device, dtype=torch.int32)
    sync = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    total, done, row = torch.zeros((), dtype=torch.int64, device=device), 0, 0
    for warm in (True, False):
        sync()
        start = time.perf_counter()
        while time.perf_counter() - start < (0.5 if warm else seconds):
            bits = (torch.rand(batch, BITS, device=device) < e[row]) ^ code[row]
            first = torch.where(bits, k, BITS + 1).amin(1)
            last = torch.where(bits, k, 0).amax(1)
            label = torch.where(last == 0, BITS, 2 * BITS + 1 - first - last)
            if not warm:
                total += (label - (row + 1)).abs().sum()
                done += batch
            row = (row + 1) % LEVELS
            if done % (64 * batch) == 0:
                sync()
        sync()
    return done / (time.perf_counter() - start), total.item() / done

def with_cupy(seconds, batch):
    import cupy
    code, e = model(cupy)
    e = e.astype("float32")
    k = cupy.arange(1, BITS + 1, dtype="int32")
    total, done, row = cupy.zeros((), dtype="int64"), 0, 0
    for warm in (True, False):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        while time.perf_counter() - start < (0.5 if warm else seconds):
            bits = (cupy.random.random((batch, BITS), dtype="float32") < e[row]) ^ code[row]
            first = cupy.where(bits, k, BITS + 1).min(1)
            last = cupy.where(bits, k, 0).max(1)
            label = cupy.where(last == 0, BITS, 2 * BITS + 1 - first - last)
            if not warm:
                total += cupy.abs(label - (row + 1)).sum()
                done += batch
            row = (row + 1) % LEVELS
            if done % (64 * batch) == 0:
                cupy.cuda.Device().synchronize()
        cupy.cuda.Device().synchronize()
    return done / (time.perf_counter() - start), float(total) / done

device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
batches = (1 << 16, 1 << 20) if device == "cuda" else (1 << 12,)
rate, mean = max(with_torch(device, 3, b) for b in batches)
print(f"PyTorch on {device}: {rate:.4g} samples/s, mean |error| {mean:.4f}")
if device == "cuda":
    rate, mean = max(with_cupy(3, b) for b in batches)
    print(f"CuPy on {device}: {rate:.4g} samples/s, mean |error| {mean:.4f}")
