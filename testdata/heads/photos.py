"""Cuts the pictures of four tasks of data.py out of photographs that ship with scikit-image and scikit-learn.

Each function returns grey pictures of 20 x 20 and their labels from 0 to 1. Seed 0 cuts them out of the left 70 % of
each photograph and any other seed out of the right 30 %, so training and test have no pixel in common.
"""

import functools
import io

import numpy as np
from images import SIZE, X, Y, each

PHOTOS = (
    "camera", "astronaut", "coffee", "chelsea", "rocket", "brick", "grass", "gravel", "coins", "moon", "page",
    "china.jpg", "flower.jpg",
)  # fmt: skip


@functools.cache
def photo(name):
    """A grey photograph, from 0 to 1."""
    import skimage
    from sklearn.datasets import load_sample_image

    picture = load_sample_image(name) if name.endswith(".jpg") else getattr(skimage.data, name)()
    picture = skimage.util.img_as_float(picture)
    return skimage.color.rgb2gray(picture) if picture.ndim == 3 else picture


def cut(rng, n, seed, size=SIZE, of=PHOTOS, shrink=1):
    """Square pieces of photographs, half of them mirrored."""
    pieces = []
    for name in rng.choice(of, n):
        p = photo(str(name))[::shrink, ::shrink]
        edge = int(0.7 * p.shape[1])
        p = p[:, edge:] if seed else p[:, :edge]
        i, j = (rng.integers(extent - size + 1) for extent in p.shape)
        pieces.append(p[i : i + size, j : j + size][:, :: rng.choice((-1, 1))])
    return np.stack(pieces)


def made(pictures, labels):
    return pictures[:, None].astype(np.float32), labels


def noise(n, seed):
    """How noisy a photograph is: the logarithm of the noise's standard deviation, from 0.004 to 0.2 of white."""
    rng = np.random.default_rng(seed)
    pieces, y = cut(rng, n, seed), rng.uniform(0, 1, n)
    return made(pieces + each(0.004 * 50**y) * rng.normal(size=pieces.shape), y)


def jpeg(n, seed):
    """How well a photograph was kept: the quality of its JPEG file, from 5 to 90. Where the blocks begin differs."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    pieces, quality = cut(rng, n, seed, 32), rng.integers(5, 91, n)
    pictures = []
    for p, q in zip(pieces, quality):
        file = io.BytesIO()
        Image.fromarray((255 * p).astype(np.uint8)).save(file, "JPEG", quality=int(q))
        i, j = rng.integers(0, 33 - SIZE, 2)
        pictures.append(np.asarray(Image.open(file))[i : i + SIZE, j : j + SIZE] / 255)
    return made(np.stack(pictures), (quality - 5) / 85)


def inset(n, seed):
    """Where a round piece of another photograph lies, a little lighter or darker: x and y of its centre."""
    rng = np.random.default_rng(seed)
    under, piece = cut(rng, n, seed), cut(rng, n, seed)
    piece += each(rng.choice((-1, 1), n) * rng.uniform(0.1, 0.3, n))
    at, radius = rng.uniform(-0.6, 0.6, (n, 2)), rng.uniform(0.25, 0.45, n)
    away = np.hypot(X - each(at[:, 0]), Y - each(at[:, 1]))
    cover = np.clip((each(radius) - away) * SIZE / 2 + 0.5, 0, 1)
    return made(under + cover * (piece - under), at / 1.2 + 0.5)


def tilt(n, seed):
    """How far a wall of bricks was turned: from -45 to 45 degrees. Half of the pictures are 1.5 times as large."""
    from scipy.ndimage import rotate

    rng = np.random.default_rng(seed)
    y = rng.uniform(0, 1, n)
    pieces = np.concatenate([cut(rng, n - n // 2, seed, 30, ("brick",), 3), cut(rng, n // 2, seed, 30, ("brick",), 2)])
    turned = [rotate(p, 90 * v - 45, reshape=False, order=1)[5:25, 5:25] for p, v in zip(pieces, y)]
    return made(np.stack(turned), y)
