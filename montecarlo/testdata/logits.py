"""The logits of montecarlo's BenchmarkLogits and BenchmarkPosterior, sampled and decoded as
one would in PyTorch: batches of normals, one product with the code matrix, or with the means of
the logits, softmax, weighted or cumulative sum; and the hard gen of BenchmarkSample in NumPy. Needs torch and numpy, and the matrices and tables that belsim writes:

    for c in unary johnson b1jdj hexj; do belsim codes $c --levels 256 -o $c.npy; done
    python logits.py

With the argument 1 it takes one thread, and measures the processor's time: for machines that do other
work, too.
"""
import math, sys, time
import torch

clock = time.perf_counter
if sys.argv[1:] == ["1"]:
    torch.set_num_threads(1)
    clock = time.process_time

def errors(code, r, sigma):
    levels = torch.arange(1, len(code) + 1, dtype=torch.float64)
    flips = code[1:] != code[:-1]                      # transition between rows n and n+1
    mu = torch.arange(1, len(code), dtype=torch.float64) + 0.5
    gauss = torch.exp(-(levels[:, None] - mu) ** 2 / (2 * sigma**2)) * (r / (sigma * math.sqrt(2 * math.pi)))
    return gauss @ flips.double()

def measure(name, decoder, seconds=3.0, batch=4096):
    import numpy
    code = torch.from_numpy(numpy.load(f"{name}.npy")).float()
    e = errors(code, 0.5, 3).clamp(1e-12, 1 - 1e-12)
    center = (torch.special.ndtri(1 - e) * (2 * code.double() - 1)).float()
    levels = torch.arange(1, len(code) + 1).float()
    matrix = code.t().contiguous()
    done, total, start, row = 0, 0.0, clock(), 0
    while clock() - start < seconds:
        z = torch.randn(batch, code.shape[1])
        z += center[row]
        c = z @ matrix
        if decoder == "gen":
            label = c.argmax(1).float() + 1
        else:
            label = torch.softmax(c, 1) @ levels
        total += (label - (row + 1)).abs().sum().item()
        done += batch
        row = (row + 1) % len(code)
    return done / (clock() - start), total / done

def measure_posterior(name, seconds=3.0, batch=4096):
    """The decoder best for |error|, which knows the error model: scores that are affine in the logits."""
    import numpy
    code = torch.from_numpy(numpy.load(f"{name}.npy")).float()
    e = errors(code, 0.5, 3).clamp(1e-12, 1 - 1e-12)
    center = (torch.special.ndtri(1 - e) * (2 * code.double() - 1)).float()
    matrix, offsets = center.t().contiguous(), -(center.double() ** 2).sum(1).float() / 2
    done, total, start, row = 0, 0.0, clock(), 0
    while clock() - start < seconds:
        z = torch.randn(batch, code.shape[1])
        z += center[row]
        scores = torch.addmm(offsets, z, matrix)
        label = (torch.softmax(scores, 1).cumsum(1) < 0.5).sum(1).float() + 1
        total += (label - (row + 1)).abs().sum().item()
        done += batch
        row = (row + 1) % len(code)
    return done / (clock() - start), total / done

def measure_hard(name, seconds=3.0, batch=4096):
    """Hard gen in NumPy: bits, errors, correlations with all code words, argmax."""
    import numpy as np
    code = np.load(f"{name}.npy")
    e = errors(torch.from_numpy(code), 0.6, 1.5).numpy().astype(np.float32)
    signs = (2.0 * code - 1).astype(np.float32)
    rng = np.random.default_rng(1)
    done, total, start, row = 0, 0, clock(), 0
    while clock() - start < seconds:
        wrong = rng.random((batch, code.shape[1]), dtype=np.float32) < e[row]
        label = (np.where(wrong, -signs[row], signs[row]) @ signs.T).argmax(1)
        total += np.abs(label - row).sum()
        done += batch
        row = (row + 1) % len(code)
    return done / (clock() - start), total / done

torch.manual_seed(1)
print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
for name in ["unary", "johnson", "b1jdj", "hexj"]:
    for decoder in ["gen", "gen-ex"]:
        best = max(measure(name, decoder, batch=b) for b in (1024, 4096))
        print(f"{name:10} {decoder:7} {best[0]:12.0f} samples/s, mean |error| {best[1]:.4f}")
for name in ["unary", "johnson", "b1jdj", "hexj"]:
    best = max(measure_posterior(name, batch=b) for b in (1024, 4096))
    print(f"{name:10} {'best':7} {best[0]:12.0f} samples/s, mean |error| {best[1]:.4f}")
for name in ["b1jdj", "hexj"]:
    best = max(measure_hard(name, batch=b) for b in (1024, 4096))
    print(f"{name:10} {'hard gen, NumPy':15} {best[0]:12.0f} samples/s, mean |error| {best[1]:.4f}")
