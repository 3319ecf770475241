"""The rungs of the ladder of continuous books on the processor, as data.

Expectations were worked out from counts (of the orders, levels and bytes that an idea no longer
touches), not from timing; prototypes had been timed by then, but not these rungs. The stream
`normal` has 2 M messages; most of the new orders are cancelled at once; at most 5 500 orders rest,
at some 330 of 2 000 prices; a new order often opens a level, and closes it when it leaves.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rung:
    """One idea."""

    name: str
    idea: str
    over: str | None
    """The rung that it changes, in one respect."""
    expected: float | None
    """How many times faster than that one it was expected to be."""
    because: str
    """Why so much was expected."""
    layout: str | None = None
    """What `measuring.layout_of` makes of it; None is the engine itself."""
    books: int = 1
    """1: the stream `normal` on one book. More: pieces of it, each on a book of its own."""
    digit_bits: int | None = None
    """Bits that a node of the price tree looks at, if not the engine's."""
    trials: int | None = None
    """Trials, where fewer are enough."""
    kept: bool = True
    """Whether later rungs stand on it; the others were tried beside the ladder."""


MANY_BOOKS = 10_000

RUNGS = (
    Rung(
        "slots",
        "slots sorted by price and time; an id is found by looking at all of them",
        None,
        None,
        "where one starts",
        layout="slots",
        trials=1,
    ),
    Rung(
        "queues",
        "a queue of orders for each price, prices sorted",
        "slots",
        1.5,
        "an order moves up to 170 prices of 16 bytes instead of up to 2 750 orders of 25 bytes; "
        "but an id is still looked for among all orders, which is half of the work",
        layout="sorted scan",
        trials=1,
    ),
    Rung(
        "hash",
        "a hash table from id to slot",
        "queues",
        20.0,
        "two or three cache lines instead of up to 5 500 ids",
        layout="sorted hash",
    ),
    Rung(
        "ladder",
        "a level for each of 65 536 prices, found by index; masks of live prices for the next best",
        "hash",
        1.4,
        "no search (7 steps, of which half are guessed wrong) and nothing to move; a word instead",
        layout="ladder planes",
    ),
    Rung(
        "records",
        "an order is a record of 40 bytes instead of an element of seven planes",
        "ladder",
        1.3,
        "one or two cache lines an order instead of seven; all orders stay in the second cache "
        "either way",
        layout="ladder records",
    ),
    Rung(
        "tree",
        "a tree of masks, 6 bits of a price a node, instead of the ladder: any price, any book",
        "records",
        0.8,
        "two nodes to find a level, one or two to make and unmake where an order stands alone. "
        "It is no gain but what the rules ask for: the ladder takes 1 MB and has 65 536 prices. "
        "The hash table grows with the book, which costs two loads more",
        layout="tree",
    ),
    Rung(
        "tree of 5 bits",
        "5 bits of a price a node instead of 6",
        "tree",
        0.91,
        "three nodes instead of two, and more of them made; but 152 bytes a node instead of 280",
        layout="tree",
        digit_bits=5,
        kept=False,
    ),
    Rung(
        "tree of 4 bits",
        "4 bits of a price a node instead of 6",
        "tree",
        0.84,
        "three nodes, and more of them made; 88 bytes a node",
        layout="tree",
        digit_bits=4,
        kept=False,
    ),
    Rung(
        "product",
        "the engine: all rules, capacities, counters and lots of a level",
        "tree",
        0.85,
        "a second search for the level, to see whether there is room, and six counters",
    ),
    Rung(
        "as they come",
        "many books: messages taken in the order of the table, all books in turn",
        None,
        None,
        "where one starts",
        layout="as they come",
        books=MANY_BOOKS,
    ),
    Rung(
        "by book",
        "rows sorted by book (a counting sort), each message fetched from where it lies",
        "as they come",
        2.0,
        "a book stays in the first cache: of some ten lines from memory a message one is left, "
        "its own",
        layout="by book",
        books=MANY_BOOKS,
    ),
    Rung(
        "ahead",
        "each message asked for 16 messages before its turn",
        "by book",
        2.0,
        "the line from memory, and the page it is in, are looked for while others are matched",
        layout="ahead",
        books=MANY_BOOKS,
    ),
    Rung(
        "bins",
        "the engine: messages copied to bins of 1 MiB first, and sorted by book in a bin",
        "ahead",
        1.2,
        "no message comes from far away any more, for 72 bytes that are written one after the "
        "other, and read again",
        books=MANY_BOOKS,
    ),
)


def find_rung(name: str) -> Rung:
    """Return a rung by its name."""
    return next(rung for rung in RUNGS if rung.name == name)
