"""A small measure, for tests of what surrounds measures."""

import numpy as np

from bookwarp.measures.protocol import Output


class TinyMeasure:
    """Mean of the last price, and of its moves over some lags, each with its sign turned or not."""

    series = ("last", "volume")
    every = 1

    def __init__(self, lags=(1, 2)):
        self.lags = lags

    def outputs(self, steps):
        lags = {"lag": np.array(self.lags)}
        return {
            "mean_price": Output("tick", "mean of the last price"),
            "mean_move": Output("tick", "mean move over a lag", ("lag",), lags),
        }

    def of_simulation(self, simulation):
        price = simulation.history["last"].astype(np.float64)
        moves = [(price[lag:] - price[:-lag]).mean(axis=0) for lag in self.lags]
        return {"mean_price": price.mean(axis=0), "mean_move": np.stack(moves, axis=1)}

    def describe(self):
        return {"name": "tiny", "lags": list(self.lags)}
