"""256-bit arithmetic of the cuda engine's kernels against Python's integers, on any GPU."""

from pathlib import Path
from random import Random

import numpy as np

from bookwarp.engines.cuda.gpu import Memory
from bookwarp.engines.cuda.u256 import compile as compiling
from bookwarp.engines.cuda.u256.kernel_key import ARENAS
from bookwarp.testing.u256_orders import draw_number

_WIDTH = 2**256
_ANSWER = np.dtype(
    [(name, np.uint64, 4) for name in ("sum", "difference", "chosen", "average")]
    + [("product", np.uint64, 8)]
    + [(name, np.uint64, 4) for name in ("quotient", "rounded_up")]
    + [("short_quotient", np.uint64)]
    + [(name, np.uint32) for name in ("below", "is_short_a", "rest", "pad")]
    + [("end", np.uint64)]
)


def arithmetic_source():
    """Return the source of `try_pairs`."""
    parts = compiling.join_sources(ARENAS).split("#line 1 ")
    arithmetic = [part for part in parts if not part.startswith(('"u256/arenas', '"u256/layout'))]
    own = Path(__file__).with_name("u256_arithmetic.cu").read_text(encoding="utf-8")
    return f'{"#line 1 ".join(arithmetic)}\n#line 1 "u256_arithmetic.cu"\n{own}'


def draw_dividends(random, count):
    """Return (dividend of 512 bits, divisor) whose quotients have at most 256 bits."""
    pairs = list(ADD_BACK)
    while len(pairs) < count:
        divisor = draw_number(random) or 1
        quotient = draw_number(random)
        # Just below, at, or just above a multiple.
        dividend = max(0, quotient * divisor + random.choice((-1, 0, 1, random.getrandbits(40))))
        if dividend < divisor * _WIDTH:
            pairs.append((dividend, divisor))
    return pairs


# A digit is guessed one too large here, and the product is added back (Hacker's Delight, 9-2).
_TOP = 2**31
ADD_BACK = [
    ((_TOP - 1) << 96 | _TOP << 64, _TOP << 64 | 1),
    ((_TOP - 1) << 224 | _TOP << 192, _TOP << 192 | 1),
    ((_TOP - 1) << 480 | _TOP << 448, _TOP << 224 | 1),
    (_TOP << 96 | 3, (_TOP >> 1) << 64 | 1),
]


def check_arithmetic(code, gpu, pairs=2_000, seed=1):
    """Compare every operation on many pairs; raises AssertionError."""
    random = Random(seed)
    divisions = draw_dividends(random, pairs)
    words = [_limbs([n % _WIDTH for n, _ in divisions]), _limbs([d for _, d in divisions])]
    words.append(_limbs([n // _WIDTH for n, _ in divisions]))
    memory = [Memory(gpu, each.nbytes) for each in words]
    for each, array in zip(memory, words, strict=True):
        gpu.write(each, array)
    answers = Memory(gpu, _ANSWER.itemsize * pairs)
    arguments = [each.pointer for each in (*memory, answers)]
    config = gpu.configure(-(-pairs // 32), 32, 0)
    gpu.launch(config, code.get_kernel("try_pairs"), *arguments, np.uint32(pairs))
    found = gpu.read(answers, np.empty(pairs, _ANSWER))
    for answer, (dividend, divisor) in zip(found, divisions, strict=True):
        _check(answer, dividend, divisor)


def _check(answer, dividend, b):
    a = dividend % _WIDTH
    quotient, rest = divmod(dividend, b)
    expected = {
        "sum": (a + b) % _WIDTH,
        "difference": (a - b) % _WIDTH,
        "chosen": min(a, b),
        "product": a * b + 2 * (_WIDTH - 1),
        "quotient": quotient,
        "rounded_up": (quotient + (rest > 0)) % _WIDTH,
        "below": 3 * (a < b),
        "is_short_a": a < 2**64,
    }
    top, low = dividend // _WIDTH % 2**64, a % 2**64
    if b < 2**64 and top < b:
        expected["short_quotient"], rest = divmod(top << 64 | low, b)
        expected["rest"] = rest > 0
    for name, value in expected.items():
        assert _number(answer[name]) == value, (name, hex(dividend), hex(b))


def _limbs(numbers):
    """Return numbers as the kernels have them, uint64 [number, limb]."""
    data = b"".join(number.to_bytes(32, "little") for number in numbers)
    return np.frombuffer(data, "<u8").reshape(-1, 4)


def _number(limbs):
    return int.from_bytes(np.atleast_1d(limbs).tobytes(), "little")
