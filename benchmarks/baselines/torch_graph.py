"""The PyTorch ensemble as a CUDA graph: the steps of a piece are captured once, then replayed.

A replay is one call for `_STEPS_PER_GRAPH` steps, so that the processor no longer sets the pace.
State lives in the same tensors throughout. The generator is registered with the graph, which moves
it on by every replay, so that each replay draws anew; `_check_draws` makes sure of it. Steps may be
compiled first (`torch.compile`), which fuses what the graph would otherwise replay operation by
operation; they then draw from stream "default", where a word costs a few instructions and no
memory, and the books are those of the reference to the last bit.

Without a GPU the steps run one by one, compiled or not.
"""

import torch

from baselines.torch_engine import TorchMarkets
from bookwarp.spec.market import CallAuction

_STEPS_PER_GRAPH = 10
_WARM_UP = 3


class GraphTorchMarkets(TorchMarkets):
    """`TorchMarkets`, replayed from a CUDA graph.

    Args:
        auction, device: as for `TorchMarkets`.
        compiled: whether a step is compiled first.
    """

    def __init__(self, auction: CallAuction, device: str, compiled: bool = False) -> None:
        super().__init__(auction, device, from_stream=compiled)
        if compiled:
            # A compiled step is made for its sizes; those of other ensembles are of no use.
            torch._dynamo.reset()
            self.run_step = torch.compile(self.run_step, fullgraph=True, dynamic=False)
        self._graph = self._capture() if self._device.type == "cuda" else None

    @torch.no_grad()
    def run(self, steps: int) -> None:
        """Run `steps` steps; on a GPU they may still be under way."""
        replays = steps // _STEPS_PER_GRAPH if self._graph is not None else 0
        for _ in range(replays):
            self._graph.replay()
        self.steps_done += replays * _STEPS_PER_GRAPH
        super().run(steps - replays * _STEPS_PER_GRAPH)

    @torch.no_grad()
    def _capture(self) -> torch.cuda.CUDAGraph:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UP):
                self.run_step()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        # Other contenders' threads may use the GPU meanwhile; only calls of this one count.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            for _ in range(_STEPS_PER_GRAPH):
                self.run_step()
        self._check_draws(graph)
        self.reset()
        return graph

    def _check_draws(self, graph: torch.cuda.CUDAGraph) -> None:
        """Make sure that two replays from one state differ: the second must draw anew."""
        if self._from_stream:
            return
        books = []
        for _ in range(2):
            self.reset_state()
            graph.replay()
            books.append(self.book.clone())
        if torch.equal(*books):
            raise RuntimeError("the graph draws the same numbers in every replay")
