"""Call-auction ensembles, step by step."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.engines.protocol import DeviceEngine, Engine
from bookwarp.engines.registry import choose_engine, device_options, engine_class, fall_back
from bookwarp.history import History, Rows, with_volume_between_rows
from bookwarp.limits import RunLimit, check_books_fit, check_threads
from bookwarp.progress import Progress, check_progress, progress_bar
from bookwarp.signals import SignalsDeferred
from bookwarp.spec.errors import EngineError, ParameterError, unknown_name
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PARAMETERS, check_value
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.runs import Runs
from bookwarp.spec.state import State, array_shapes
from bookwarp.tape import order_tape

if TYPE_CHECKING:
    from bookwarp.results.run import Run

DEFAULT_RECORD = ("last", "volume")

# A piece of a run is over in about this time, so that progress shows and an interrupt is heeded.
_PIECE_SECONDS = 0.25

_NAMES = (
    *PARAMETERS,
    *("mix", "agent_types", "stream", "window", "engine", "threads", "record", "record_every"),
    *("depth_ticks", "book_markets", "tape_markets", "tape_steps", "memory_limit", "progress"),
    *("checkpoint", "checkpoint_every", "devices", "cuda_stream", "keep_on_device"),
    *("market_settings", "volume_profile"),
)


class Simulation:
    """A call-auction ensemble that is run piece by piece; any cut gives the same result.

    Args:
        markets: number of independent markets.
        agents: agents in each market.
        levels: ticks on the grid, 8 .. 65536.
        steps: steps planned in all, for `run`; `step` may go on beyond them.
        seed, open_price, open_depth, max_qty, noise_spread, market_order_prob, maker_half_spread:
            parameters of the model, one number or one per market; see docs/model.md.
        clearing_interval: steps from one auction to the next, one number or one per market; orders
            sent in between wait for it.
        parent_qty, parent_side, parent_start, parent_horizon, schedule, volume_share: the parent
            order of a market's execution agent, each one value or one per market; see
            docs/execution.md.
        volume_profile: int [point], weights that the schedule "profile" follows.
        mix: shares of the agent types, a `Mix` or a mapping.
        agent_types: int8 [market, agent], instead of a mix.
        stream: "default", or "paper" for the draws of the published engine.
        window: "fixed" grid, or a grid "following" the price.
        market_ids: int [market], the number under which a market draws; 0 .. markets-1 if None.
        market_settings: int [market], the setting that each market has, of 0 .. the largest number
            there. Parameters that vary have one value per setting then, not one per market: many
            markets of few settings begin faster so.
        engine: "auto", "cuda", "cpu" or "reference"; they give the same bits.
        threads: threads of the cpu engine; all available processors if None.
        devices: GPUs of the cuda engine: a number, a list of numbers, or "all"; 0 if None.
        cuda_stream: stream that the cuda engine puts its work on, an object with __cuda_stream__,
            or of CuPy or PyTorch; the legacy default stream if None.
        keep_on_device: whether what is recorded stays in the memory of the GPU, for
            `device_history`, and is brought to host memory only when `history` or a result is
            asked for. There is room for the rows of the planned `steps`.
        record: names to record: last, volume, mid2, best_bid, best_ask, bid_depth, ask_depth,
            book, tape.
        record_every: steps between recorded rows.
        depth_ticks: reach of bid_depth and ask_depth from the best price, ticks.
        book_markets: markets whose whole book is recorded.
        tape_markets, tape_steps: markets and steps whose orders are recorded.
        memory_limit: bytes that the run may take; 90 % of the free memory if None.

    Raises:
        ParameterError: a parameter is outside its domain, before any work.
        EngineError: the engine does not work here.
    """

    def __init__(
        self,
        markets: int,
        agents: int = 256,
        levels: int = 128,
        steps: int = 500,
        seed: Any = 0,
        *,
        open_price: Any = None,
        open_depth: Any = 8,
        mix: Any = None,
        agent_types: Any = None,
        max_qty: Any = 4,
        noise_spread: Any = 3,
        market_order_prob: Any = 0.10,
        maker_half_spread: Any = 1,
        clearing_interval: Any = 1,
        parent_qty: Any = 0,
        parent_side: Any = 1,
        parent_start: Any = 0,
        parent_horizon: Any = 1,
        schedule: Any = "twap",
        volume_profile: Any = None,
        volume_share: Any = 0.1,
        stream: str = "default",
        window: str = "fixed",
        market_ids: Any = None,
        market_settings: Any = None,
        engine: str = "auto",
        threads: int | None = None,
        devices: Any = None,
        cuda_stream: Any = None,
        keep_on_device: bool = False,
        record: Any = DEFAULT_RECORD,
        record_every: int = 1,
        depth_ticks: int = 5,
        book_markets: Any = None,
        tape_markets: Any = None,
        tape_steps: Any = None,
        memory_limit: int | None = None,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise ParameterError(unknown_name("parameter", name, _NAMES))
        check_books_fit(markets, levels, memory_limit)
        auction = CallAuction.of(
            markets,
            agents=agents,
            levels=levels,
            seed=seed,
            open_price=open_price,
            open_depth=open_depth,
            mix=mix,
            agent_types=agent_types,
            max_qty=max_qty,
            noise_spread=noise_spread,
            market_order_prob=market_order_prob,
            maker_half_spread=maker_half_spread,
            clearing_interval=clearing_interval,
            parent_qty=parent_qty,
            parent_side=parent_side,
            parent_start=parent_start,
            parent_horizon=parent_horizon,
            schedule=schedule,
            volume_profile=volume_profile,
            volume_share=volume_share,
            stream=stream,
            window=window,
            market_ids=market_ids,
            market_settings=market_settings,
        )
        plan = RecordPlan.of(
            auction, record, record_every, depth_ticks, book_markets, tape_markets, tape_steps
        )
        self._begin(
            auction,
            plan,
            steps,
            engine,
            threads,
            memory_limit,
            devices=devices,
            cuda_stream=cuda_stream,
            keep_on_device=keep_on_device or None,
        )

    def _begin(
        self,
        auction: CallAuction,
        plan: RecordPlan,
        steps: int,
        engine: str,
        threads: int | None,
        memory_limit: int | None,
        **on_device: Any,
    ) -> None:
        self.auction = auction
        self.plan = plan
        self.steps = int(check_value(PARAMETERS["steps"], steps))
        self.steps_done = 0
        self.elapsed_s = 0.0
        """Seconds spent running steps; compiling and loading an engine is not counted."""
        self.engine = choose_engine(engine)
        self.threads = check_threads(threads)
        options = device_options(self.engine, **on_device)
        self._kept_rows: int | None = None
        if options.pop("keep_on_device", False):
            self._kept_rows = plan.rows(0, self.steps) if plan.has_rows else 0
            options["kept_rows"] = self._kept_rows
        self._limit = RunLimit(
            auction, plan, self.steps, self.threads, memory_limit, self._kept_rows
        )
        self._limit.check(self.engine, self.steps)
        self._history = History(auction, plan)
        self._engine = self._make_engine(options, may_fall_back=engine == "auto" and not options)
        self._loaded = False
        # Steps that take about `_PIECE_SECONDS`, as far as is known.
        self._piece = 1

    def _make_engine(self, options: dict[str, Any], may_fall_back: bool) -> Engine:
        try:
            return engine_class(self.engine)(self.auction, self.plan, self.threads, **options)
        except EngineError as error:
            if not may_fall_back:
                raise
            self.engine = fall_back(self.engine, error)
        self._limit.check(self.engine, self.steps)
        return engine_class(self.engine)(self.auction, self.plan, self.threads)

    def step(
        self, count: int = 1, progress: Progress = None, in_pieces: bool = True
    ) -> "Simulation":
        """Run `count` more steps; interrupted by Ctrl-C it stops between two steps.

        Args:
            count: steps to run, >= 0.
            progress: True for a bar on stderr, or a function of (steps done, steps wanted).
            in_pieces: whether many steps are run piece by piece, so that an interrupt is heeded
                soon; False gives the engine all of them at once, which on a GPU is one launch
                where nothing is recorded, or it is with `keep_on_device`.

        Returns:
            The simulation itself.

        Raises:
            ParameterError: `count` is no step count, `progress` is something else, or the run would
                overflow or not fit in memory.
            KeyboardInterrupt: after the piece that was running; `step` or `save` may follow.
        """
        count = int(check_value(PARAMETERS["steps"], count))
        check_progress(progress)
        if progress or (in_pieces and count > self._piece):
            for _ in self.pieces(count, progress):
                pass
        else:
            self._start(count)
        return self

    def run(self, progress: Progress = None) -> "Run":
        """Run what is left of the planned steps and return the result."""
        self.step(self.steps_left, progress)
        return self.result()

    @property
    def steps_left(self) -> int:
        """How many of the planned steps are not done yet."""
        return max(0, self.steps - self.steps_done)

    def result(self) -> "Run":
        """Return what has happened so far, as a `Run`; the simulation can go on."""
        from bookwarp.results.run import Run

        self._wait()
        tape = None
        if len(self.plan.tape_markets):
            tape = order_tape(self.auction, self.plan, self.steps_done)
        return Run(
            auction=self.auction.flat(),
            plan=self.plan,
            state=self.state(),
            history=self.history,
            tape=tape,
            engine=self.engine,
            elapsed_s=self.elapsed_s,
        )

    @property
    def history(self) -> Rows:
        """The recorded rows so far: int64 [row, market]; books [row, chosen market, level]."""
        return with_volume_between_rows(self._rows())

    def state(self) -> State:
        """Return a copy of the state after the last step."""
        self._wait()
        return self._engine.read_state()

    def market_state(self) -> Rows:
        """Return the arrays of the state with one value for each market, without the books.

        Returns:
            Copies by name, int64 [market]; the names and units are those of `state`.
        """
        markets = self.auction.markets
        found = {name: np.empty(markets, np.int64) for name in self.market_state_names}
        self._wait()
        self.send_market_state(found)()
        return found

    @property
    def market_state_names(self) -> tuple[str, ...]:
        """Names of the arrays of the state that have one value for each market."""
        shapes = array_shapes(self.auction).items()
        return tuple(name for name, shape in shapes if len(shape) == 1)

    def send_market_state(
        self, found: Mapping[str, np.ndarray], places: Runs | None = None
    ) -> Callable[[], None]:
        """Start to write some of the arrays that `market_state` returns into the caller's.

        They are as they are after the steps so far. Where these still run on a GPU, and the arrays
        are pinned, this does not wait for them, and other work may follow.

        Args:
            found: names of `market_state`, contiguous arrays int64 [market], which have to stay
                until then.
            places: which of their entries belong to the markets; all of them if None.

        Returns:
            What waits until the arrays are written.

        Raises:
            ParameterError: a name is none of them, an array is not of that kind, or the places are
                not as many as the markets, or not in the arrays.
        """
        markets = self.auction.markets
        own = Runs.one(0, markets) if places is None else places
        if len(own) != markets:
            raise ParameterError(f"places are {len(own)}, but there are {markets} markets")
        for name, array in found.items():
            if name not in self.market_state_names:
                raise ParameterError(
                    unknown_name("array of the state", name, self.market_state_names)
                )
            if not isinstance(array, np.ndarray):
                raise ParameterError(f"what is given for {name} must be an array of NumPy")
            flags = array.flags
            whole = flags.c_contiguous and flags.writeable
            fits = array.ndim == 1 and (
                len(array) == markets if places is None else len(array) >= own.stop
            )
            if not fits or array.dtype != np.int64 or not whole:
                least = "" if places is None else " or more"
                raise ParameterError(
                    f"the array for {name} is {array.dtype} {array.shape}; it must be contiguous "
                    f"int64 ({own.stop},){least} that can be written to"
                )
        if isinstance(self._engine, DeviceEngine):
            return self._engine.send_scalars(found, own)
        arrays = self._engine.read_state().arrays()
        for name, array in found.items():
            array[own.index] = arrays[name]
        return _nothing

    def device_arrays(self, part: int = 0) -> Mapping[str, Any]:
        """Return the state where the cuda engine has it, without a copy.

        The arrays are shared by DLPack and __cuda_array_interface__ with CuPy, PyTorch and JAX.
        last_price, volume, trades, prev_mid2, base, pruned_bid and pruned_ask are int64 [market],
        as of a `Run`. "book" is [market, level] in signed lots, buys positive and sells negative,
        int32 as long as no side of a book can pass 2**31 - 1 lots, then int64. "best_bid_level" and
        "best_ask_level" are int64 [market], -1 and `levels` where a side is empty. "waiting_buy"
        and "waiting_sell", lots as of the book, are there if some market clears less often than
        every step; execution_waiting, execution_filled, execution_cost, arrival_mid2 and
        start_volume if some market has an execution agent.

        They are the state itself: steps change them, and what is written there is the state from
        then on. A market can be set back to what all arrays held of it, or of another market, at an
        earlier step; other values are not checked, and may not be a state. When it clears, and when
        its parent order begins, goes by the step of the run all the same. Ask again after `resume`
        and when "book" may have become int64; arrays that were handed out stay valid memory as long
        as they are held.

        Args:
            part: which of the `devices`, in their order; each has consecutive markets.

        Raises:
            EngineError: the engine keeps its state in host memory.
        """
        if not isinstance(self._engine, DeviceEngine):
            raise EngineError(f"engine {self.engine!r} keeps no state on a device: use state()")
        return self._engine.device_arrays(part)

    def device_history(self, part: int = 0) -> Mapping[str, Any]:
        """Return the rows recorded so far where the cuda engine keeps them, without a copy.

        They are shared as `device_arrays` are. Names and shapes are those of `history`, int64 [row,
        market] and [row, chosen market, level]; but "total_volume" is the lots traded so far, where
        "volume" has those between two rows. Rows that `resume` took from a checkpoint are in
        `history` alone. Steps that follow add rows: ask again then. All are one piece of memory,
        which stays as long as one of them is held.

        Args:
            part: as for `device_arrays`.

        Raises:
            EngineError: `keep_on_device` was not asked for.
        """
        if self._kept_rows is None or not isinstance(self._engine, DeviceEngine):
            raise EngineError("rows are in host memory: set keep_on_device, or use history")
        return self._engine.device_rows(part)

    @property
    def device_nbytes(self) -> int:
        """Most bytes of GPU memory that were allocated at once so far; 0 on other engines."""
        return self._engine.device_nbytes if isinstance(self._engine, DeviceEngine) else 0

    def digest(self) -> str:
        """Return the SHA-256 of the canonical state: the same on every engine and for every cut."""
        return self.state().digest()

    def save(self, path: str | Path) -> None:
        """Write a checkpoint from which `resume` goes on, replacing the one at `path`.

        The file appears whole or not at all.

        Raises:
            StoreError: it cannot be written.
        """
        from bookwarp.results.checkpoint import Checkpoint, write_checkpoint

        self._wait()
        checkpoint = Checkpoint(
            auction=self.auction.flat(),
            plan=self.plan,
            state=self.state(),
            steps=self.steps,
            rows=self._rows(),
            engine=self.engine,
            elapsed_s=self.elapsed_s,
        )
        write_checkpoint(path, checkpoint)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        engine: str = "auto",
        threads: int | None = None,
        devices: Any = None,
        cuda_stream: Any = None,
        keep_on_device: bool = False,
        memory_limit: int | None = None,
    ) -> "Simulation":
        """Go on from a checkpoint, on any engine, with any number of threads or devices.

        Raises:
            StoreError: the file is missing, damaged, or not a checkpoint of bookwarp.
        """
        from bookwarp.results.checkpoint import read_checkpoint

        kept = read_checkpoint(path)
        simulation = cls.__new__(cls)
        simulation._begin(
            kept.auction,
            kept.plan,
            kept.steps,
            engine,
            threads,
            memory_limit,
            devices=devices,
            cuda_stream=cuda_stream,
            keep_on_device=keep_on_device or None,
        )
        simulation._engine.write_state(kept.state)
        simulation.steps_done = kept.state.step
        simulation.elapsed_s = kept.elapsed_s
        if kept.rows and kept.plan.rows(0, kept.state.step):
            simulation._history.add(kept.rows)
        return simulation

    def _start(self, steps: int) -> None:
        """Run so few steps that they need no pieces; the engine is not waited for."""
        rows = self._allocate_rows(steps)
        began = time.perf_counter()
        with SignalsDeferred():
            self._engine.run(steps, rows)
            self.elapsed_s += time.perf_counter() - began
            self.steps_done += steps
            if steps and rows:
                self._history.add(rows)

    def pieces(self, count: int, progress: Progress = None) -> Iterator[None]:
        """Run `count` more steps in pieces of about a quarter of a second, pausing after each.

        For what has to be done while a long run goes on, as `save`.
        """
        start, stop = self.steps_done, self.steps_done + count
        rows = self._allocate_rows(count)
        filled = 0
        try:
            with progress_bar(progress, count) as report:
                while self.steps_done < stop:
                    here = self.steps_done
                    steps = min(self._piece, stop - here)
                    upto = filled + self.plan.rows(here, here + steps)
                    began = time.perf_counter()
                    with SignalsDeferred():
                        self._engine.run(steps, {n: a[filled:upto] for n, a in rows.items()})
                        self._engine.wait()
                        spent = time.perf_counter() - began
                        self.elapsed_s += spent
                        self.steps_done += steps
                        filled = upto
                        if rows and filled:
                            self._history.show({n: a[:filled] for n, a in rows.items()})
                    report(self.steps_done - start, count)
                    yield
                    rate = steps / max(spent, 1e-9)
                    self._piece = max(1, min(int(rate * _PIECE_SECONDS), 4 * self._piece))
        finally:
            self._history.close()

    def _allocate_rows(self, steps: int) -> Rows:
        """Check that `steps` more steps fit, and return the memory for what they record."""
        stop = self.steps_done + steps
        self._limit.check_going_on(self.engine, stop)
        rows = {}
        if self._kept_rows is None:
            rows = self._history.allocate(self.steps_done, stop)
        if not self._loaded:
            self._engine.run(0, {name: array[:0] for name, array in rows.items()})
            self._loaded = True
        return rows

    def _wait(self) -> None:
        """Wait until all steps are done and all rows are filled."""
        began = time.perf_counter()
        self._engine.wait()
        self.elapsed_s += time.perf_counter() - began

    def _rows(self) -> Rows:
        """Return all rows so far as the engine writes them, those of a `step` that runs too."""
        self._wait()
        kept = []
        if self._kept_rows is not None and isinstance(self._engine, DeviceEngine):
            self._limit.check_rows(self.engine, self.plan.rows(0, self.steps_done))
            kept = [self._engine.read_rows()]
        return self._history.join(kept)


def _nothing() -> None:
    """Wait for what is there already."""
