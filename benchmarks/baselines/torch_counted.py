"""The PyTorch ensemble with the engine's own idea: orders counted by code, not added one by one.

All orders of a market lie at few prices, so the lots of each code are summed over the agents, four
16-bit counters in a 64-bit word, and only then added to the book. Compiled, the draw, the rules and
the sum are one kernel that reads nothing and writes a few words a market. It is no longer a
program to put any agent in: a rule that may ask for any price needs `torch_engine`.
"""

import torch
from torch import Tensor

from baselines.torch_graph import GraphTorchMarkets

_COUNTER_BITS = 16
_COUNTERS = 4


class CountedTorchMarkets(GraphTorchMarkets):
    """`GraphTorchMarkets` that counts orders by code."""

    def _add_orders(self, mid2: Tensor, code: Tensor, qty: Tensor) -> None:
        rules = self.rules
        if rules.agents * rules.max_qty >= 2**_COUNTER_BITS:
            raise ValueError("more lots than a counter holds")
        codes = 2 * rules.slots
        lots = qty.to(torch.int64) << (code % _COUNTERS * _COUNTER_BITS)
        word = code // _COUNTERS
        sums = [
            torch.where(word == at, lots, 0).sum(1) for at in range((codes - 1) // _COUNTERS + 1)
        ]
        shifts = torch.arange(_COUNTERS, device=mid2.device) * _COUNTER_BITS
        packed = torch.stack(sums, 1)[:, :, None] >> shifts
        counts = (packed & (2**_COUNTER_BITS - 1)).to(torch.int32).view(len(mid2), -1)[:, :codes]
        self.book.view(len(mid2), -1).scatter_add_(1, self._prices(mid2), counts)
