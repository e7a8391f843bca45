"""Prints the tables of README.md from the measured errors of this folder, in Markdown. It needs Python alone.

    python3 tables.py          # the tables; TestPage of errmodel/head compares README.md with them
    python3 tables.py --sets   # the excess of each data set
    python3 tables.py --lost   # errmodel/head/lost.csv

A row of heads.csv and codes.csv is a network. gen_bits, gen and gen_ex are mean |errors| in levels against the nearest level:
of gen that reads hard bits, of gen that reads logits, and of gen-ex, the mean over the levels. Those of direct regression, and of
CORN's rank, stand in gen_bits. Columns with _label have the errors against the label itself, clipped to the range; median_label
is of the median over the levels. Kept CORNs have gen and gen_ex of logits against levels. wrong has the share of wrong bits by the number of transitions of a bit. An error of a head is
the mean of its networks, read by the decoder of the smallest error.

ages.csv has errors in years of Paplhám and Franc, A Call to Reflect on Evaluation Practices for Age Estimation (CVPR 2024), by the README
of github.com/paplhjak/Facial-Age-Estimation-Benchmark. published.csv and landmarks.csv are of Shah, Xue and Aamodt, Label Encoding for
Regression Networks (ICLR 2022): its tables of encodings, losses and decoders, and that of numbers of levels.
"""

import csv
import math
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
IMAGES = "digits pose keypoints horizon texture gauge crowd ripples disc zoom noise jpeg inset tilt".split()
LATER = "storms hotel delivery race visits maths noise jpeg inset tilt".split()  # trained after unary with BCE was chosen
MEASURES = {"level": "", "label": "_label"}  # |answer − nearest level| and |answer − label|, and their columns
KINDS = ("tables", "images")
# The number of outputs at 64 levels.
OUTPUTS = {"unary": 63, "johnson": 32, "b1jdj": 17, "hexj": 16, "b2jdj": 10, "gray": 6, "binary": 6, "onehot": 64, "hadamard": 64,
           "corn": 63, "direct": 1}  # fmt: skip
HIDDEN = [("gray", "ce"), ("binary", "ce"), ("onehot", "bce"), ("b1jdj", "soft"), ("hexj", "soft"), ("direct", "huber")]
# The heads that every data set has. Excess is over the best of these.
COMMON = [(c, t) for c in ("unary", "johnson", "b1jdj") for t in ("bce", "ce", "soft")] + [("onehot", "soft"), ("direct", "l1")]
FEWEST = 4  # data sets for quartiles


def rows(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def kind(data):
    return "images" if data in IMAGES else "tables"


def errors(networks, measure):
    """The error of each data set and head (code, training), in levels: {data: {head: error}}."""
    seen = {}
    for r in networks:
        if r["levels"] != "64" or r["architecture"] in ("wide", "mlp-long") or r["sigma"] not in ("", "0.75"):
            continue  # another network of the same data
        through = r["training"] in ("l1", "l2", "ce", "soft") and r["code"] != "direct"  # hard bits mean nothing
        for read in ("gen_ex",) if through else ("gen_bits", "gen", "gen_ex"):
            if text := r[read + MEASURES[measure]]:
                seen.setdefault(r["data"], {}).setdefault((r["code"], r["training"]), {}).setdefault(read, []).append(float(text))
    return {d: {h: min(map(statistics.mean, v.values())) for h, v in heads.items()} for d, heads in seen.items()}


def excesses(found):
    """The excess of each head over the best of COMMON, in percent: {kind: {head: {data: excess}}}."""
    out = {k: {} for k in KINDS}
    for data, heads in found.items():
        best = min(heads[h] for h in COMMON)
        for h, e in heads.items():
            out[kind(data)].setdefault(h, {})[data] = 100 * (e / best - 1)
    return out


def quartiles(values):
    """The lower quartile, the median and the upper quartile."""
    return statistics.quantiles(values, n=4, method="inclusive")


def called(code, training):
    names = {("onehot", "ce"): "softmax", ("onehot", "soft"): "HL-Gauss", ("corn", "bce"): "CORN", ("direct", "huber"): "Huber"}
    return names.get((code, training)) or (training.upper() if code == "direct" else
                                           f"{code}, {training if training == 'soft' else training.upper()}")  # fmt: skip


def mean(ratios):
    """The geometric mean."""
    return math.exp(statistics.mean(map(math.log, ratios)))


def table(*header):
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def ordered(excess):
    """All heads, by the medians over tables and images."""
    heads = {h for of in excess.values() for k in KINDS for h in of[k]}

    def size(h):
        of = [statistics.median(excess[m][k][h].values()) for m in MEASURES for k in KINDS if h in excess[m][k]]
        return statistics.mean(of), h

    return sorted(heads, key=size)


def all_heads(excess):
    table("head", "outputs", "level: tables", "level: images", "label: tables", "label: images", "data sets")
    for code, training in ordered(excess):
        through = training in ("l1", "l2") and code != "direct"
        if code not in OUTPUTS or through or (code, training) in HIDDEN:
            continue  # lost.csv has them
        cells, sets = [], []
        for m in MEASURES:
            for k in KINDS:
                values = excess[m][k].get((code, training), {}).values()
                sets.append(str(len(values)))
                if len(values) < FEWEST:
                    cells.append("–")
                else:
                    lower, middle, upper = quartiles(values)
                    cells.append(f"{lower:.1f}–**{middle:.1f}**–{upper:.1f}")
        if cells.count("–") < 4:
            row(called(code, training), OUTPUTS[code], *cells, "/".join(sets))


def later(excess):
    heads = [("unary", "bce"), ("johnson", "bce"), ("onehot", "soft"), ("direct", "l1")]
    table("data sets", *(called(*h) for h in heads))
    for k in KINDS:
        for new in (False, True):
            own = [[v for d, v in excess["level"][k][h].items() if (d in LATER) == new] for h in heads]
            row(f"{len(own[0])} {'later ' if new else ''}{k}", *(f"{statistics.median(v):.1f}, {max(v):.0f}" for v in own))


def soft(networks):
    """What the width of soft targets changes, and what the median does, over the eight tasks of heads.py."""
    found = {}
    for r in networks:
        if r["code"] == "onehot" and r["training"] in ("ce", "soft"):
            for read in ("gen_ex_label", "median_label"):
                found.setdefault((r["sigma"], read), {}).setdefault(r["data"], []).append(float(r[read]))
    base = {d: statistics.mean(v) for d, v in found["", "gen_ex_label"].items()}
    table("softmax", "mean: tables", "mean: images", "median: tables", "median: images")
    for sigma in ("", "0.75", "2"):
        cells = [f"{mean([statistics.mean(v) / base[d] for d, v in found[sigma, read].items() if kind(d) == k]):.3f}"
                 for read in ("gen_ex_label", "median_label") for k in KINDS]  # fmt: skip
        row(f"σ = {sigma}" if sigma else "hard", *cells)


def wrong(networks):
    """The share of wrong bits by transitions: the median over the data sets of their networks with BCE."""
    found = {}
    for r in networks:
        if r["training"] == "bce" and r["levels"] == "64" and r["code"] in OUTPUTS:
            for t, share in (pair.split(":") for pair in r["wrong"].split()):
                found.setdefault(int(t), {}).setdefault(r["data"], []).append(100 * float(share))
    shown = [1, 2, 4, 8, 16, 32]
    table("transitions", *map(str, shown))
    row("wrong, %", *(f"{statistics.median(map(statistics.median, found[t].values())):.1f}" for t in shown))


def widths():
    """What levels add to the error by √(e² + q²), by their width."""
    table("width of a level", "e", "2e", "4e")
    row("error", *(f"{100 * (math.hypot(1, w / 4) - 1):+.0f} %" for w in (1, 2, 4)))


def spacings():
    return {(r["table"], r["head"], r["levels"], r["spacing"], r["seed"]): (float(r["mae"]), float(r["q"])) for r in rows("levels.csv")}


def agreement(found):
    """The error of unary beside √(e² + q²), with e of L1 and q as measured."""
    off = [mae / math.hypot(found[data, "l1", "0", "", seed][0], q)
           for (data, head, *_, seed), (mae, q) in found.items() if head.startswith("unary")]  # fmt: skip
    table("error/√(e² + q²)", "networks", "lower quartile", "median", "upper quartile")
    row("unary, BCE", len(off), *(f"{v:.3f}" for v in quartiles(off)))


def landmarks():
    """The errors of COFW, whose range is taken to be 300 %, and √(e² + q²) with e of 256 levels."""
    published = {(r["decoder"], int(r["levels"])): float(r["error"]) for r in rows("landmarks.csv")}
    q = {n: 300 / (n - 1) / 4 for n in (64, 128, 256)}
    table("levels", *map(str, q))
    row("GEN-EX", *(f"{published['gen-ex', n]:.2f}" for n in q))
    row("GEN", *(f"{published['gen', n]:.2f}" for n in q))
    row("√(e² + q²), GEN", *(f"{math.sqrt(published['gen', 256] ** 2 - q[256] ** 2 + q[n] ** 2):.2f}" for n in q))


def uneven(found):
    """|answer − label| over that of even levels: geometric means over the tables, with their standard errors."""
    table("head", "levels", "half even, half quantiles", "quantiles")
    for head, levels in dict.fromkeys((head, levels) for _, head, levels, *_ in found if levels != "0"):
        cells = []
        for spacing in ("half", "quantiles"):
            logs = {}
            for (data, *rest, seed), (mae, _) in found.items():
                if rest == [head, levels, spacing]:
                    logs.setdefault(data, []).append(math.log(mae / found[data, head, levels, "even", seed][0]))
            logs = [statistics.mean(v) for v in logs.values()]
            centre = math.exp(statistics.mean(logs))
            cells.append(f"{centre:.2f}±{centre * statistics.stdev(logs) / len(logs) ** 0.5:.2f}")
        row(head.split(", ")[0], levels, *cells)


def fixed(name, head, upto):
    """What heads have over the smallest error of each published table: mean and largest."""
    published, loss, least = rows(name), {}, {}
    for r in published:
        least[r["table"]] = min(float(r["error"]), least.get(r["table"], math.inf))
    for r in published:
        loss.setdefault(head(r), []).append(100 * (float(r["error"]) / least[r["table"]] - 1))
    for h, v in sorted(loss.items(), key=lambda x: statistics.mean(x[1])):
        if statistics.mean(v) < upto:
            row(h, f"{statistics.mean(v):.1f}", f"{max(v):.1f}")


def circle():
    found = {}
    for r in rows("circle.csv"):
        name = ", ".join(filter(None, (r["code"], r["head"])))
        found.setdefault((name, r["outputs"]), {}).setdefault(r["task"], []).append(float(r["error"]))
    table("head", "outputs", "digits", "blobs")
    for (name, outputs), tasks in found.items():
        row(name, outputs, *(f"{statistics.mean(tasks[t]):.3g}" for t in ("digits", "blobs")))


def lost(excess):
    """The rows of errmodel/head/lost.csv."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["code", "training", "measure", "data", "sets", "median", "lower", "upper"])
    for code, training in sorted(set(ordered(excess)) - {("direct", "l2"), ("direct", "huber")}):
        for m in MEASURES:
            for k in KINDS:
                values = excess[m][k].get((code, training), {}).values()
                if len(values) >= FEWEST:
                    lower, middle, upper = quartiles(values)
                    out.writerow([code, training, m, k, len(values), *(f"{v:.2f}" for v in (middle, lower, upper))])


def main():
    networks = rows("heads.csv") + rows("codes.csv")
    excess = {m: excesses(errors(networks, m)) for m in MEASURES}
    if sys.argv[1:] == ["--lost"]:
        lost(excess)
    elif sys.argv[1:] == ["--sets"]:
        heads = [h for h in ordered(excess) if h in COMMON]
        for m in MEASURES:
            table(f"answer − {m}", *(called(*h) for h in heads))
            for k in KINDS:
                for d in excess[m][k]["unary", "bce"]:
                    row(d, *(f"{excess[m][k][h][d]:.1f}" for h in heads))
    else:
        all_heads(excess)
        later(excess)
        soft(rows("heads.csv"))
        wrong(networks)
        widths()
        agreement(spacings())
        landmarks()
        uneven(spacings())
        table("ages", "mean", "largest")
        fixed("ages.csv", lambda r: r["head"], 100)
        table("the paper", "mean", "largest")
        losses = {"l2": "l1"}  # tables that have no L1
        fixed("published.csv", lambda r: f"{r['code']}, {losses.get(r['training'], r['training']).upper()}, "
              f"{'BEL' if r['decoder'].startswith('bel') else r['decoder'].upper()}", 7)  # fmt: skip
        circle()


if __name__ == "__main__":
    main()
