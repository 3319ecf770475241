"""Memory on a GPU that batches work in, kept for the next one."""

from bookwarp.engines.cuda.gpu import Gpu, Memory

# What a message and a resting order take beside themselves, all together, in bytes: indexes and
# books while they are grouped; rows after; events, where they are written and where they are
# gathered.
MESSAGE_BYTES = 32 + 16 + 48 + 2 * 64
RESTING_BYTES = 48 + 2 * 32
BOOK_BYTES = 256


class Workspace:
    """Memory by name, which grows when more is asked for."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._held: dict[str, Memory] = {}

    def take(self, name: str, nbytes: int) -> Memory:
        """Return memory of at least `nbytes` bytes; what it held before is lost if it grows."""
        held = self._held.get(name)
        if held is None or held.nbytes < nbytes:
            self._held.pop(name, None)
            del held
            held = self._held[name] = Memory(self._gpu, nbytes)
        return held

    def release(self) -> None:
        """Free all memory."""
        self._held.clear()

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        return sum(memory.nbytes for memory in self._held.values())
