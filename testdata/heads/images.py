"""Draws the pictures of eight tasks of data.py: heads, arms, horizons, skins, dials, crowds, waves and discs.

Each function returns grey pictures of 20 x 20 and their labels from 0 to 1. What a network must not look at
differs from picture to picture: place, size, light, contrast, background, noise. Nothing is read from disk.

    python images.py sheet.png

puts the first pictures of each task on a sheet, by increasing label (it needs matplotlib).
"""

import sys

import numpy as np

SIZE = 20
CHUNK = 1000

# Pixel centres, from -1 to 1. y points up.
X, Y = np.meshgrid((np.arange(SIZE) + 0.5) / SIZE * 2 - 1, 1 - (np.arange(SIZE) + 0.5) / SIZE * 2)


def each(v):
    """One number for each picture, to be broadcast over its pixels."""
    return np.asarray(v)[:, None, None]


def chunks(draw, n, seed):
    """Draws n pictures, some at a time, so that they need little memory."""
    rng = np.random.default_rng(seed)
    parts = [draw(rng, min(CHUNK, n - done)) for done in range(0, n, CHUNK)]
    pictures, labels = (np.concatenate(p) for p in zip(*parts))
    return pictures[:, None].astype(np.float32), labels


def smooth(rng, n, cells):
    """Noise of standard deviation 1 that changes over 1 / cells of a picture: bilinear between random knots."""
    knots = rng.normal(size=(n, cells + 1, cells + 1))
    t = (np.arange(SIZE) + 0.5) / SIZE * cells
    weight = np.maximum(0, 1 - np.abs(t[:, None] - np.arange(cells + 1)))  # pixels x knots
    out = weight @ knots @ weight.T
    return out / out.std()


def camera(rng, pictures, noise, contrast=(0.6, 1.2)):
    """Contrast, brightness and noise, which differ from picture to picture."""
    n = len(pictures)
    out = each(rng.uniform(-0.2, 0.2, n)) + each(rng.uniform(*contrast, n)) * pictures
    return np.clip(out + each(rng.uniform(0.3, 1, n) * noise) * rng.normal(size=pictures.shape), -0.5, 1.5)


# ---- pose: the yaw of a head.


def turn(yaw, pitch, roll):
    """Rotations, n x 3 x 3, from the axes of a head (right, up, to the front) to those of the camera."""
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)

    def matrix(rows):
        return np.stack([np.stack(r, -1) for r in rows], -2)

    cy, sy, cp, sp, cr, sr = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    return (
        matrix([[cr, -sr, zero], [sr, cr, zero], [zero, zero, one]])
        @ matrix([[one, zero, zero], [zero, cp, -sp], [zero, sp, cp]])
        @ matrix([[cy, zero, sy], [zero, one, zero], [-sy, zero, cy]])
    )


def hit(origin, direction, centre, axes):
    """Where rays first meet an ellipsoid: distance along the ray (infinite if they miss) and the normal."""
    o, d = (origin - centre) / axes, direction / axes
    a, b, c = (d * d).sum(-1), (o * d).sum(-1), (o * o).sum(-1) - 1
    root = b * b - a * c
    t = np.where(root > 0, (-b - np.sqrt(np.maximum(root, 0))) / a, np.inf)
    at = o + np.where(np.isfinite(t), t, 0)[..., None] * d
    normal = at / axes
    return t, normal / np.linalg.norm(normal, axis=-1, keepdims=True)


def pose(n, seed):
    """Heads under one light, turned by -75 to 75 degrees. Pitch, roll, build, hair, light and place differ."""
    return chunks(heads, n, seed)


def heads(rng, n):
    yaw = np.radians(75 * (2 * rng.beta(2, 2, n) - 1))
    r = turn(yaw, np.radians(rng.normal(0, 10, n)), np.radians(rng.normal(0, 7, n))).astype(np.float32)
    size, dx, dy = rng.uniform(0.65, 0.85, n), rng.normal(0, 0.08, n), rng.normal(0, 0.08, n)
    # Two by two rays a pixel, in the head's axes.
    shift = 0.5 / SIZE
    rays = []
    for sx, sy in ((-shift, -shift), (-shift, shift), (shift, -shift), (shift, shift)):
        u, v = (X + sx - each(dx)) / each(size), (Y + sy - each(dy)) / each(size)
        rays.append(np.stack([u, v, np.full_like(u, 3)], -1).astype(np.float32))
    origin = np.stack(rays, 1).reshape(n, -1, 3) @ r  # the rotation's inverse, for row vectors
    direction = (np.array([0, 0, -1], np.float32) @ r)[:, None, :]
    axes = np.stack([rng.uniform(0.68, 0.8, n), np.ones(n), rng.uniform(0.78, 0.92, n)], -1)
    axes = axes[:, None, :].astype(np.float32)
    far, normal = hit(origin, direction, 0, axes)
    front = axes[..., 2:]
    nose = np.concatenate([0 * front, 0 * front - 0.1, front], -1)
    length = np.stack([np.full(n, 0.13), np.full(n, 0.25), rng.uniform(0.15, 0.32, n)], -1)
    length = length[:, None, :].astype(np.float32)
    near, nose_normal = hit(origin, direction, nose, length)
    at = origin + np.where(np.isfinite(far), far, 0)[..., None] * direction
    x, y, z = at[..., 0], at[..., 1], at[..., 2]

    def flat(v):
        return np.asarray(v)[:, None]

    albedo = flat(rng.uniform(0.55, 0.9, n)) * np.ones_like(x)
    eyes = (np.abs(x) - 0.3) ** 2 + (y - 0.2) ** 2 < 0.13**2
    mouth = (np.abs(x) < 0.26) & (np.abs(y + 0.5) < 0.06)
    hair = (y > flat(rng.uniform(0.45, 0.75, n))) | (z < flat(rng.uniform(-0.35, 0.05, n)))
    albedo = np.where((eyes | mouth) & (z > 0), 0.2, albedo)
    albedo = np.where(hair, flat(rng.uniform(0.05, 0.9, n)), albedo)
    on_nose = near < far
    albedo = np.where(on_nose, flat(rng.uniform(0.55, 0.9, n)), albedo)
    normal = np.where(on_nose[..., None], nose_normal, normal)
    light = np.stack([rng.normal(0, 0.7, n), rng.normal(0.4, 0.5, n), np.full(n, 1.0)], -1)
    light = (light / np.linalg.norm(light, axis=-1, keepdims=True))[:, None, :] @ r
    shade = 0.25 + 0.75 * np.maximum(0, (normal * light).sum(-1))
    seen = np.isfinite(np.minimum(near, far))
    behind = each(rng.uniform(0, 0.8, n)) + 0.12 * smooth(rng, n, 4)
    head = np.where(seen, albedo * shade, 0).reshape(n, 4, SIZE, SIZE).mean(1)
    cover = seen.reshape(n, 4, SIZE, SIZE).mean(1)
    return camera(rng, head + (1 - cover) * behind, 0.06), (np.degrees(yaw) + 75) / 150


# ---- keypoints: the elbow and the hand of an arm.


def stroke(ax, ay, bx, by, width):
    """How much a line from a to b covers each pixel: from 0 to 1."""
    ax, ay, bx, by = each(ax), each(ay), each(bx), each(by)
    dx, dy = bx - ax, by - ay
    t = np.clip(((X - ax) * dx + (Y - ay) * dy) / (dx * dx + dy * dy + 1e-9), 0, 1)
    distance = np.hypot(X - ax - t * dx, Y - ay - t * dy)
    return np.clip((each(width) - distance) * SIZE / 2 + 0.5, 0, 1)


def over(pictures, cover, shade):
    return pictures * (1 - cover) + cover * each(shade)


def keypoints(n, seed):
    """Arms of two links before other lines. Labels: x and y of the elbow, x and y of the hand."""
    return chunks(arms, n, seed)


def arms(rng, n):
    sx, sy = rng.normal(0, 0.15, n), rng.normal(-0.55, 0.12, n)
    first, second = rng.uniform(0.45, 0.65, n), rng.uniform(0.4, 0.65, n)
    a = np.radians(rng.normal(90, 45, n))
    b = a + np.radians(rng.uniform(-120, 120, n))
    ex, ey = sx + first * np.cos(a), sy + first * np.sin(a)
    hx, hy = ex + second * np.cos(b), ey + second * np.sin(b)
    dark = rng.uniform(0, 0.5, n)
    pictures = each(dark) + 0.06 * smooth(rng, n, 5)
    for _ in range(3):  # clutter, fainter than most arms
        p = rng.uniform(-1, 1, (4, n))
        pictures = over(pictures, stroke(*p, rng.uniform(0.03, 0.1, n)), dark + rng.uniform(0.05, 0.4, n))
    width, bright = rng.uniform(0.06, 0.12, n), dark + rng.uniform(0.3, 0.6, n)
    pictures = over(pictures, stroke(sx, sy, ex, ey, width * 1.3), bright)
    pictures = over(pictures, stroke(ex, ey, hx, hy, width), bright * rng.uniform(0.85, 1.15, n))
    hand = stroke(hx, hy, hx, hy, width + rng.uniform(0.04, 0.1, n))
    pictures = over(pictures, hand, bright + rng.uniform(0, 0.25, n))
    labels = np.stack([ex, ey, hx, hy], -1)
    return camera(rng, pictures, 0.15), np.clip((labels + 1.2) / 2.4, 0, 1)


# ---- horizon: the angle of the line between ground and sky.


def horizon(n, seed):
    """Horizons turned by -45 to 45 degrees, behind blocks and poles that do not follow them."""
    return chunks(horizons, n, seed)


def horizons(rng, n):
    angle = rng.uniform(-45, 45, n)
    c, s = each(np.cos(np.radians(angle))), each(np.sin(np.radians(angle)))
    up = (Y - each(rng.uniform(-0.45, 0.45, n))) * c - (X - each(rng.uniform(-0.3, 0.3, n))) * s
    sky = np.clip(up * SIZE / 2 / each(rng.uniform(1, 4, n)) + 0.5, 0, 1)
    difference = rng.uniform(0.25, 0.7, n) * rng.choice([-1, 1], n, p=[0.25, 0.75])
    ground = 0.5 - each(difference) / 2 + 0.15 * smooth(rng, n, 7)
    above = 0.5 + each(difference) / 2 + 0.1 * smooth(rng, n, 3) + each(rng.normal(0, 0.1, n)) * Y
    pictures = ground * (1 - sky) + above * sky
    for _ in range(3):  # blocks, poles and roofs, each in half of the pictures
        p, t = rng.uniform(-1.1, 1.1, (2, n)), np.radians(rng.uniform(-90, 90, n))
        length = rng.uniform(0.1, 0.9, n)
        width = np.where(rng.uniform(size=n) < 0.5, rng.uniform(0.04, 0.35, n), -1)
        cover = stroke(*p, p[0] + length * np.cos(t), p[1] + length * np.sin(t), width)
        pictures = over(pictures, cover, rng.uniform(0, 1, n))
    return camera(rng, pictures, 0.1), (angle + 45) / 90


# ---- texture: the age of a skin.


def texture(n, seed):
    """Skins whose wrinkles and roughness grow with a hidden age. The label is the age with an error."""
    return chunks(skins, n, seed)


def skins(rng, n):
    age = rng.beta(1.6, 2, n)
    pictures = 0.5 + 0.1 * smooth(rng, n, 3) + each(rng.normal(0, 0.1, n)) * X + each(rng.normal(0, 0.1, n)) * Y
    rough = 0.02 + 0.2 * np.clip(age + rng.normal(0, 0.03, n), 0, 1)
    pictures = pictures + each(rough) * smooth(rng, n, SIZE // 2)
    lean = rng.uniform(-0.6, 0.6, n)  # wrinkles of one skin are nearly parallel
    number = np.rint(2 + 25 * np.clip(age + rng.normal(0, 0.03, n), 0, 1))
    for k in range(30):
        x, y = rng.uniform(-1, 1, (2, n))
        t, half = lean + rng.normal(0, 0.25, n), rng.uniform(0.2, 0.6, n)
        width = np.where(number > k, rng.uniform(0.01, 0.05, n), -1)
        cover = stroke(x - half * np.cos(t), y - half * np.sin(t), x + half * np.cos(t), y + half * np.sin(t), width)
        pictures = pictures - each(rng.uniform(0.08, 0.3, n)) * cover
    return camera(rng, pictures, 0.03, (0.8, 1.1)), np.clip(age + rng.normal(0, 0.02, n), 0, 1)


# ---- gauge: the needle of a dial.


def gauge(n, seed):
    """Dials whose needle points from -135 to 135 degrees from the top. A second hand and glare mean nothing."""
    return chunks(dials, n, seed)


def dials(rng, n):
    angle, tilt = rng.uniform(-135, 135, n), rng.normal(0, 3, n)
    (x, y), size = rng.normal(0, 0.05, (2, n)), rng.uniform(0.7, 0.9, n)
    light = rng.uniform(0.5, 0.9, n)
    dark = light - rng.uniform(0.3, 0.5, n)
    pictures = over(each(rng.uniform(0, 0.8, n)) + 0.1 * smooth(rng, n, 4), stroke(x, y, x, y, size), light)

    def hand(pictures, degrees, start, end, width, shade):
        s, c = size * np.sin(np.radians(degrees + tilt)), size * np.cos(np.radians(degrees + tilt))
        return over(pictures, stroke(x + start * s, y + start * c, x + end * s, y + end * c, width), shade)

    for mark in range(-135, 136, 45):
        pictures = hand(pictures, mark, 0.85, 1, 0.03 * size, dark)
    pictures = hand(pictures, rng.uniform(-180, 180, n), -0.2, 0.65, 0.02 * size, dark)
    pictures = hand(pictures, angle, -0.25, 0.8, rng.uniform(0.06, 0.09, n), dark)
    for _ in range(2):  # glare and dirt
        p, t, length = rng.uniform(-0.8, 0.8, (2, n)), rng.uniform(0, np.pi, n), rng.uniform(0.1, 0.5, n)
        cover = stroke(*p, p[0] + length * np.cos(t), p[1] + length * np.sin(t), rng.uniform(0.03, 0.15, n))
        pictures = over(pictures, cover, rng.uniform(0.2, 1, n))
    return camera(rng, pictures, 0.06), (angle + 135) / 270


# ---- crowd: a number of people.


def crowd(n, seed):
    """Up to 63 dots before uneven ground. They are smaller further up, and hide each other."""
    return chunks(crowds, n, seed)


def crowds(rng, n):
    number = np.floor(64 * rng.beta(1.2, 2, n))
    ground = rng.uniform(0.2, 0.5, n)
    pictures = each(ground) + 0.06 * smooth(rng, n, 4) + each(rng.normal(0, 0.05, n)) * Y
    for k in range(63):
        x, y = rng.uniform(-1, 1, (2, n))
        width = np.where(number > k, (0.1 - 0.04 * y) * rng.uniform(0.8, 1.2, n), -1)
        shade = ground + rng.choice([-0.3, 0.4], n) * rng.uniform(0.6, 1, n)
        pictures = over(pictures, stroke(x, y, x, y, width), shade)
    return camera(rng, pictures, 0.08), number / 63


# ---- ripples: how close the waves on water are.


def ripples(n, seed):
    """One to six waves across a picture, in any direction, closer or wider at the top. A weaker swell means nothing."""
    return chunks(waves, n, seed)


def waves(rng, n):
    number = rng.uniform(1, 6, n)

    def wave(number, slope):
        t, phase = rng.uniform(0, 2 * np.pi, (2, n))
        along = (each(np.cos(t)) * X + each(np.sin(t)) * Y) * (1 + each(rng.uniform(-slope, slope, n)) * Y)
        return np.sin(np.pi * each(number) * along + each(phase))

    pictures = 0.5 + each(rng.uniform(0.1, 0.3, n)) * wave(number, 0.2)
    pictures = pictures + each(rng.uniform(0, 0.12, n)) * wave(rng.uniform(0.5, 3, n), 0.2) + 0.08 * smooth(rng, n, 4)
    return camera(rng, pictures, 0.12), (number - 1) / 5


# ---- disc: from which angle a disc is seen.


def disc(n, seed):
    """Discs that are seen from 10 to 90 degrees above their plane. Place, size and roll differ, and sticks hide parts."""
    return chunks(plates, n, seed)


def plates(rng, n):
    angle, roll = rng.uniform(10, 90, n), rng.uniform(0, np.pi, n)
    (x, y), size = rng.normal(0, 0.15, (2, n)), rng.uniform(0.4, 0.7, n)
    flat = size * np.sin(np.radians(angle))
    u = each(np.cos(roll)) * (X - each(x)) + each(np.sin(roll)) * (Y - each(y))
    v = each(np.cos(roll)) * (Y - each(y)) - each(np.sin(roll)) * (X - each(x))
    inside = 1 - np.hypot(u / each(size), v / each(flat))
    cover = np.clip(inside * each(flat) * SIZE / 2 + 0.5, 0, 1)
    ground = rng.uniform(0.2, 0.6, n)
    pictures = over(each(ground) + 0.08 * smooth(rng, n, 4), cover, ground + rng.uniform(0.2, 0.4, n))
    for _ in range(2):
        p, t, length = rng.uniform(-0.8, 0.8, (2, n)), rng.uniform(0, np.pi, n), rng.uniform(0.2, 0.8, n)
        stick = stroke(*p, p[0] + length * np.cos(t), p[1] + length * np.sin(t), rng.uniform(0.03, 0.1, n))
        pictures = over(pictures, stick, rng.uniform(0, 1, n))
    return camera(rng, pictures, 0.08), (angle - 10) / 80


def sheet(path):
    import matplotlib.pyplot as plt

    tasks = [pose, keypoints, horizon, texture, gauge, crowd, ripples, disc]
    _, axes = plt.subplots(16, 12, figsize=(12, 17.2))
    for k, task in enumerate(tasks):
        pictures, labels = task(24, 0)
        first = labels if labels.ndim == 1 else labels[:, 0]
        for cell, i in zip(axes[2 * k : 2 * k + 2].flat, np.argsort(first)):
            cell.imshow(pictures[i, 0], cmap="gray", vmin=-0.2, vmax=1.2, extent=(-1, 1, -1, 1))
            cell.set_title(f"{task.__name__} {first[i]:.2f}", fontsize=7)
            cell.axis("off")
            if labels.ndim > 1:
                cell.plot(labels[i, 0::2] * 2.4 - 1.2, labels[i, 1::2] * 2.4 - 1.2, "r.", ms=3)
    plt.tight_layout()
    plt.savefig(path, dpi=80)


if __name__ == "__main__":
    sheet(sys.argv[1])
