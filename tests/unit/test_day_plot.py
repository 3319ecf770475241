"""The picture of a day: what is gathered for it, and what it shows."""

import numpy as np
import pytest
from itch_messages import add, frame
from lobster_text import write_day
from market_rows import rows_of

import bookwarp as bw
from bookwarp.analysis import day_canvas
from bookwarp.analysis.day_canvas import DayCanvas
from bookwarp.analysis.day_plot import _clock, _time_step, plot_day
from bookwarp.engines.replay_protocol import replay_books
from bookwarp.replaying import apply_all
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market_data import MarketEvent

ADD, EXECUTE, HIDDEN = MarketEvent.ADD, MarketEvent.EXECUTE, MarketEvent.HIDDEN
SECOND = 10**9


def gather(rows, times):
    rows.time_ns[:] = times
    canvas, books = DayCanvas(), replay_books("cpu", True)
    levels = np.zeros((rows.row_count, 1, 4), np.int64)
    canvas.apply(books, rows, levels, apply_all)
    return canvas, levels


def test_books_are_kept_at_the_end_of_each_cell():
    rows = rows_of((ADD, 1, 1, 100, 5), (ADD, 2, 1, 101, 6), (ADD, 3, -1, 103, 7))
    canvas, levels = gather(rows, [0, 1, 5_000_000])
    assert canvas.book == 0
    assert list(canvas.depths) == [0, 5]
    assert [depth.tolist() for depth in canvas.depths[0]] == [[[101, 6], [100, 5]], []]
    assert [depth.tolist() for depth in canvas.depths[5]] == [[[101, 6], [100, 5]], [[103, 7]]]
    assert levels[:, 0, 2].tolist() == [100, 101, 101]


def test_trades_are_summed_by_cell_price_and_side():
    rows = rows_of(
        (ADD, 1, 1, 100, 9), (EXECUTE, 1, 0, bw.NO_PRICE, 2), (EXECUTE, 1, 1, 100, 3),
        (HIDDEN, 0, 1, 99, 4), (EXECUTE, 1, 1, 100, 1),
    )  # fmt: skip
    canvas, _ = gather(rows, [0, 0, 0, 0, 7_000_000])
    assert dict(canvas.trades) == {(0, 100, -1): 5, (0, 99, 0): 4, (7, 100, -1): 1}


def test_many_cells_become_fewer(monkeypatch):
    monkeypatch.setattr(day_canvas, "_MOST_CELLS", 10)
    rows = rows_of(*[(ADD, i, 1, 100 + i, 1) for i in range(200)])
    canvas, _ = gather(rows, np.arange(200) * 1_000_000)
    assert len(canvas.depths) <= 10
    assert canvas.cell_ns == 32_000_000
    last = max(canvas.depths)
    assert last == 199 * 1_000_000 // canvas.cell_ns
    assert canvas.depths[last][0][0].tolist() == [299, 1]
    assert canvas.depths[0][0][0].tolist() == [131, 1]


def test_times_that_go_back_stay_in_their_cell():
    rows = rows_of((ADD, 1, 1, 100, 9), (ADD, 2, 1, 101, 9))
    canvas, _ = gather(rows, [5_000_000, 0])
    assert list(canvas.depths) == [5]


def test_day_is_drawn(tmp_path):
    write_day(tmp_path / "ABC_message.csv", 800)
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        bw.replay(tmp_path / "ABC_message.csv", plot=tmp_path / f"day{suffix}", collect=False)
        assert (tmp_path / f"day{suffix}").read_bytes().startswith(start)


def drawn(path, form="lobster"):
    run = bw.Replay(path, form)
    canvas = DayCanvas()
    list(run.blocks(lambda books, rows, levels: canvas.apply(books, rows, levels, apply_all)))
    return plot_day(canvas, run.day())


def test_picture_says_what_it_shows(tmp_path):
    write_day(tmp_path / "ABC_message.csv", 800)
    figure = drawn(tmp_path / "ABC_message.csv")
    assert figure.get_suptitle().startswith("ABC  —  800 rows, ")
    prices, volume = figure.axes[:2]
    labels = prices.get_legend_handles_labels()[1]
    assert labels[:2] == ["best ask", "best bid"]
    assert "trade, a buyer came in" in labels
    assert prices.get_ylabel() == "price [$]"
    low, high = prices.get_ylim()
    assert low < 100.0 < high
    assert low > 90.0
    assert volume.get_xlim() == (34200.0, pytest.approx(34200.0008, abs=0.002))


@pytest.mark.parametrize(
    "text",
    [
        "1,1,1,5,100,1\n",
        "1,1,1,5,100,-1\n1,4,1,5,100,-1\n",
        "1,5,0,5,100,1\n",
        "1,7,0,0,-1,-1\n",
        "1,1,1,5,9223372036854775807,1\n2,1,2,9223372036854775807,-9223372036854775807,1\n",
    ],
)
def test_small_and_strange_days_are_drawn(tmp_path, text):
    (tmp_path / "m.csv").write_text(text)
    bw.replay(tmp_path / "m.csv", plot=tmp_path / "day.png", collect=False)
    assert (tmp_path / "day.png").stat().st_size > 1000


def test_picture_shows_one_symbol(tmp_path):
    messages = [add(1, "B", 5, 100), add(2, "B", 5, 100, locate=2)]
    (tmp_path / "day.itch").write_bytes(frame(messages))
    with pytest.raises(ParameterError, match="a picture shows one symbol"):
        bw.replay(tmp_path / "day.itch", "itch", plot=tmp_path / "day.png")
    assert not (tmp_path / "day.png").exists()
    bw.replay(tmp_path / "day.itch", "itch", plot=tmp_path / "day.png", symbols=["S2"])


@pytest.mark.parametrize(
    "seconds, text",
    [
        (34200.0, "09:30:00"),
        (34200.25, "09:30:00.25"),
        (1_593_561_600.0, "2020-07-01\n00:00:00"),
    ],
)
def test_times_are_those_of_a_clock(seconds, text):
    assert _clock(seconds) == text


def test_marks_of_time_are_round():
    assert _time_step((34200.0, 37800.0)) == 600
    assert _time_step((0.0, 86400.0)) == 14_400
    assert _time_step((0.0, 0.0005)) == 1e-4
