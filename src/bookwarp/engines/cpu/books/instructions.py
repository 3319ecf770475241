"""Instructions of the processor that Numba has no name for.

`lowest_bit` and `highest_bit` return the position of a set bit of a uint64 that is not 0.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_UNDEFINED_AT_ZERO = ir.Constant(ir.IntType(1), 1)


def _type_lowest_bit(_context: Any, _word: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _UNDEFINED_AT_ZERO)

    return types.uint64(types.uint64), generate


def _type_highest_bit(_context: Any, _word: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = builder.ctlz(arguments[0], _UNDEFINED_AT_ZERO)
        return builder.sub(target.get_constant(types.uint64, 63), zeros)

    return types.uint64(types.uint64), generate


lowest_bit: Any = intrinsic(_type_lowest_bit)
highest_bit: Any = intrinsic(_type_highest_bit)
