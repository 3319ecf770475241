"""How the markets of a sweep are cut into blocks: by the design alone, the same on any machine."""

from dataclasses import dataclass
from math import prod

from bookwarp.spec.errors import ParameterError, shown

# A block takes one core about two seconds, ...
_BLOCK_EVENTS = 2**31
# ... or more, so that no sweep is cut into more blocks than a scheduler handles well, ...
_MOST_BLOCKS = 2**14
# ... but its results are never more than this.
_BLOCK_BYTES = 2**26


@dataclass(frozen=True)
class Blocks:
    """The blocks of a sweep, each a run of consecutive markets and one chunk of every result.

    Markets are counted in the C order of `shape`. A chunk is whole in the last dimensions, of any
    length in the one before, and of length 1 in those before that: so its markets follow each
    other.
    """

    shape: tuple[int, ...]
    """Lengths of the dimensions of a result: those of the design, then the replicas."""
    chunk: tuple[int, ...]
    """The same of a chunk; the last one along a dimension may hold less."""

    @classmethod
    def of(cls, shape: tuple[int, ...], markets: int) -> "Blocks":
        """Return blocks of about `markets` markets and no more, but at least one."""
        chunk = [1] * len(shape)
        room = max(1, markets)
        for dim in reversed(range(len(shape))):
            if room < shape[dim]:
                cells = -(-shape[dim] // room)
                chunk[dim] = -(-shape[dim] // cells)
                break
            chunk[dim] = shape[dim]
            room //= shape[dim]
        return cls(shape, tuple(chunk))

    @property
    def _cut(self) -> int:
        """The dimension along which blocks are cut; those after it are whole."""
        parted = [d for d, (n, c) in enumerate(zip(self.shape, self.chunk, strict=True)) if c < n]
        return parted[-1] if parted else 0

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return prod(-(-n // c) for n, c in zip(self.shape, self.chunk, strict=True))

    def markets(self, block: int) -> tuple[int, int]:
        """Return the markets of a block, first .. stop, half-open."""
        cut = self._cut
        inner = prod(self.shape[cut + 1 :])
        length, chunk = self.shape[cut], self.chunk[cut]
        row, cell = divmod(block, -(-length // chunk))
        first = (row * length + cell * chunk) * inner
        stop = (row * length + min((cell + 1) * chunk, length)) * inner
        return first, stop

    def place(self, block: int) -> tuple[int, ...]:
        """Return the number of the block's chunk along every dimension."""
        place: list[int] = []
        for length, chunk in zip(reversed(self.shape), reversed(self.chunk), strict=True):
            block, cell = divmod(block, -(-length // chunk))
            place.append(cell)
        return tuple(reversed(place))

    def extent(self, block: int) -> tuple[int, ...]:
        """Return the lengths of the block, which is smaller than a chunk at the end."""
        sizes = zip(self.place(block), self.shape, self.chunk, strict=True)
        return tuple(min((cell + 1) * c, n) - cell * c for cell, n, c in sizes)


def block_markets(markets: int, events_per_market: int, nbytes_per_market: int) -> int:
    """Return how many markets a block has.

    Args:
        markets: of the whole sweep.
        events_per_market: agents times steps of the largest setting.
        nbytes_per_market: bytes of the results of one market.
    """
    events = max(_BLOCK_EVENTS, markets * events_per_market // _MOST_BLOCKS)
    return max(1, min(events // max(1, events_per_market), _BLOCK_BYTES // nbytes_per_market))


def check_block_markets(value: object) -> int:
    """Return a number of markets that the caller asks for.

    Raises:
        ParameterError: it is no such number.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"block_markets must be a positive integer, not {shown(value)}")
    return value
