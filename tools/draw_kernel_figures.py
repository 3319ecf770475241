"""Draw the diagrams of docs/kernel.md: `python tools/draw_kernel_figures.py`.

kernel_lanes.svg   what a warp owns: markets, levels of the book, agents
kernel_count.svg   the way of an order, from 32 random bits to the sums of a market
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
INK, GRAY, PALE = "#222222", "#777777", "#f1f1ee"
BID, ASK = "#9fc5e8", "#f4b6a6"
FIRST, SECOND = "#4f7cac", "#b3552f"
MARK = "#ffe08a"


def open_page(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure without axes whose unit is a tenth of an inch."""
    figure = Figure(figsize=(width / 10, height / 10))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    figure.patch.set_facecolor("white")
    return figure, axes


def box(axes: Axes, x: float, y: float, width: float, height: float, **style: object) -> None:
    """Draw a rectangle; `text` is put into it."""
    text = style.pop("text", "")
    size = style.pop("size", 8.5)
    look = {"facecolor": "white", "edgecolor": INK, "linewidth": 0.8} | style
    axes.add_patch(Rectangle((x, y), width, height, **look))
    if text != "":
        middle = x + width / 2, y + height / 2
        axes.text(*middle, str(text), ha="center", va="center", size=size, color=INK)


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], **style: object
) -> None:
    """Draw an arrow."""
    look = {"color": GRAY, "linewidth": 1.0} | style
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, **look))


def say(axes: Axes, x: float, y: float, text: str, **style: object) -> None:
    """Write left-aligned text."""
    axes.text(x, y, text, **({"va": "center", "size": 8.5, "color": INK} | style))


# The first level of each market's window, and the signed lots that rest in it.
_WINDOWS = (
    (49, (0, 0, 2, 5, 7, 9, 12, 3, -4, -10, -8, -6, -1, 0, 0, 0)),
    (57, (1, 0, 4, 8, 11, 10, 6, 2, 0, -9, -13, -7, -5, 0, -2, 0)),
)


def draw_lanes() -> Figure:
    """Return what a warp owns."""
    figure, axes = open_page(96, 62)
    head = "Global memory: the books, one row a market, signed lots (bids +, asks −)"
    say(axes, 2, 3, head, size=9)
    say(axes, 2, 21.5, "One block is one warp: 32 lanes, two markets", size=9)
    for group, (first, resting) in enumerate(_WINDOWS):
        colour = (FIRST, SECOND)[group]
        y = 6 + 6 * group
        say(axes, 2, y + 1.6, f"market {group}", color=colour, weight="bold")
        box(axes, 12, y, 80, 3.2, facecolor=PALE)
        say(axes, 12.6, y + 1.6, "level 0", color=GRAY, size=7.5)
        say(axes, 91.4, y + 1.6, "127", color=GRAY, size=7.5, ha="right")
        held = 12 + 80 * first / 128
        box(axes, held, y, 10, 3.2, facecolor=MARK, text=f"{first} .. {first + 15}", size=7.5)
        left = 12 + 40 * group
        arrow(axes, (held + 5, y + 3.4), (left + 20, 23.6), color=colour)
        box(axes, left, 24, 40, 29, edgecolor=colour, linewidth=1.6, facecolor="none")
        for lane, lots in enumerate(resting):
            x = left + 2.5 * lane
            box(axes, x, 24, 2.5, 2.6, text=16 * group + lane, size=6.5, facecolor=PALE)
            box(axes, x, 27.6, 2.5, 3.6, text=first + lane, size=6.5)
            side = BID if lots > 0 else ASK if lots < 0 else "white"
            box(axes, x, 31.4, 2.5, 3.6, text=lots, size=6.5, facecolor=side)
    for name, y in {"lane": 25.3, "level it holds": 29.4, "resting lots": 33.2}.items():
        say(axes, 2, y, name, size=8)

    say(axes, 2, 40, "agents it\ndraws for", size=8)
    for group in range(2):
        for turn in range(3):
            for lane in range(16):
                pair = 16 * turn + lane
                text = f"{2 * pair}\n{2 * pair + 1}"
                x = 12 + 40 * group + 2.5 * lane
                box(axes, x, 36 + 3.6 * turn, 2.5, 3.6, text=text, size=5.2, facecolor=PALE)
        axes.text(32 + 40 * group, 48.2, "...", ha="center", va="center", size=10)
    say(axes, 2, 51, "counters", size=8)
    for lane in range(32):
        box(axes, 12 + 2.5 * lane, 49.6, 2.5, 2.8, facecolor=MARK)
    say(
        axes,
        2,
        57.5,
        "A lane holds one level of its market's window (yellow above) and draws for every 16th\n"
        "pair of its agents. It counts what they send in registers of its own. There is no shared\n"
        "memory: shuffles show a lane the registers of others, and the tensor cores add up the "
        "counters.",
        size=8,
    )
    return figure


def draw_count() -> Figure:
    """Return the way of an order."""
    figure, axes = open_page(96, 66)
    say(
        axes,
        2,
        3,
        "1. One Philox hash, two agents: 32 random bits each, spent by multiplication",
        size=9,
    )
    box(axes, 2, 6, 18, 4, text="word (32 bits)", facecolor=PALE)
    box(axes, 27, 6, 12, 4, text="side, size", facecolor=BID)
    box(axes, 39, 6, 12, 4, text="what is left", facecolor=PALE)
    box(axes, 58, 6, 12, 4, text="offset", facecolor=BID)
    box(axes, 70, 6, 12, 4, text="what is left", facecolor=PALE)
    arrow(axes, (20, 8), (27, 8))
    axes.text(23.4, 6.6, "× 2q", ha="center", size=8)
    arrow(axes, (51, 8), (58, 8))
    axes.text(54.4, 6.6, "× 7", ha="center", size=8)
    axes.text(33, 11.6, "high word", ha="center", va="center", size=7, color=GRAY)
    axes.text(45, 11.6, "low word", ha="center", va="center", size=7, color=GRAY)
    axes.text(64, 11.6, "high word", ha="center", va="center", size=7, color=GRAY)
    axes.text(76, 11.6, "low word", ha="center", va="center", size=7, color=GRAY)
    say(axes, 84, 8, "< threshold?\nmarketable", size=8)

    say(
        axes,
        2,
        17,
        "2. Counted in the lane's own registers: eight counters of 8 bits, twice",
        size=9,
    )
    names = ["−3", "−2", "−1", "0", "+1", "+2", "+3", "mkt"]
    rows = (
        ("all orders", [4, 9, 0, 6, 11, 2, 3, 5], 20),
        ("buys of them", [1, 9, 0, 2, 4, 2, 0, 3], 25),
    )
    for name, values, y in rows:
        say(axes, 2, y + 2, name, size=8)
        for slot, value in enumerate(values):
            marked = MARK if slot == 4 else "white"
            box(axes, 14 + 5 * slot, y, 5, 4, text=value, facecolor=marked)
    for slot, name in enumerate(names):
        axes.text(16.5 + 5 * slot, 30.5, name, ha="center", va="center", size=7.5, color=GRAY)
    say(axes, 2, 30.5, "offset", size=8, color=GRAY)
    say(
        axes,
        57,
        22,
        "An order to buy 3 lots at offset +1 adds 3 << 8·4 to\nthe 64 bits above, and the same "
        "to those below.",
        size=8,
    )
    say(axes, 57, 27, "No atomic, no branch, no memory; where the mid is\nnobody asks yet.", size=8)

    say(
        axes,
        2,
        36,
        "3. Added up by the tensor cores (mma.m16n8k32, bytes): the same sums for both markets",
        size=9,
    )
    for row in range(8):
        for column in range(8):
            one = MARK if column == row else "white"
            box(
                axes,
                3 + 2.2 * column,
                39 + 2.2 * row,
                2.2,
                2.2,
                facecolor=one,
                linewidth=0.5,
                text="1" if column == row else "",
                size=6,
            )
    say(axes, 3, 59.3, "row s picks byte s\nof every lane", size=7.5)
    axes.text(23.4, 47.8, "×", size=13, ha="center", va="center")
    for column in range(8):
        for row in range(8):
            colour = FIRST if column < 4 else SECOND
            box(
                axes,
                26.5 + 4 * column,
                39 + 2.2 * row,
                4,
                2.2,
                facecolor=colour,
                alpha=0.35,
                linewidth=0.5,
            )
        axes.text(
            28.5 + 4 * column,
            58.2,
            f"{4 * column}..{4 * column + 3}",
            size=6.2,
            ha="center",
            va="center",
            color=GRAY,
        )
    say(
        axes,
        26.5,
        61,
        "the counters: four lanes a column, so that a cell here is four bytes",
        size=7.5,
    )
    axes.text(61.3, 47.8, "=", size=13, ha="center", va="center")
    for column in range(2):
        for row in range(8):
            colour = FIRST if column == 0 else SECOND
            box(
                axes,
                65 + 8 * column,
                39 + 2.2 * row,
                8,
                2.2,
                facecolor=colour,
                alpha=0.35,
                linewidth=0.5,
                text=names[row],
                size=6.5,
            )
    axes.text(69, 58.2, "market 0", size=7.5, ha="center", va="center", color=FIRST)
    axes.text(77, 58.2, "market 1", size=7.5, ha="center", va="center", color=SECOND)
    say(axes, 83, 45, "Sums of bytes in\n32 bits: exact.", size=8)
    say(axes, 83, 51, "Columns of one\nmarket are added\nby a shuffle.", size=8)
    return figure


def main() -> None:
    """Write both."""
    # Without the salt and the date, every run would give another file.
    with mpl.rc_context({"svg.hashsalt": "bookwarp", "font.family": "DejaVu Sans"}):
        for name, draw in (("kernel_lanes", draw_lanes), ("kernel_count", draw_count)):
            path = FOLDER / f"{name}.svg"
            draw().savefig(path, metadata={"Date": None})
            print(path.name)


if __name__ == "__main__":
    main()
