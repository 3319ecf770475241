"""Instructions of the processor that Numba has no name for.

`lowest_bit` and `highest_bit` return the position of a set bit of a uint64 that is not 0.
`prefetch(array, index)` begins to load an element into the cache; any index is harmless.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

_BIT, _BYTE, _INT32 = ir.IntType(1), ir.IntType(8), ir.IntType(32)
_UNDEFINED_AT_ZERO = ir.Constant(_BIT, 1)
_TO_READ, _KEEP_CLOSE, _DATA = (ir.Constant(_INT32, code) for code in (0, 3, 1))


def _type_lowest_bit(_context: Any, _word: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _UNDEFINED_AT_ZERO)

    return types.uint64(types.uint64), generate


def _type_highest_bit(_context: Any, _word: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zeros = builder.ctlz(arguments[0], _UNDEFINED_AT_ZERO)
        return builder.sub(target.get_constant(types.uint64, 63), zeros)

    return types.uint64(types.uint64), generate


def _type_prefetch(_context: Any, array: Any, _index: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        make_array: Any = arrayobj.make_array
        data = make_array(array)(target, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), _BYTE.as_pointer())
        form = ir.FunctionType(ir.VoidType(), [address.type, _INT32, _INT32, _INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], form)
        builder.call(function, [address, _TO_READ, _KEEP_CLOSE, _DATA])
        return target.get_dummy_value()

    return types.void(array, types.int64), generate


lowest_bit: Any = intrinsic(_type_lowest_bit)
highest_bit: Any = intrinsic(_type_highest_bit)
prefetch: Any = intrinsic(_type_prefetch)
