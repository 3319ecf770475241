"""Instructions on words of 64 bits that Numba has no name for.

`multiply_high(a, b)` returns the high word of a product. `load_word(data, at)` and
`store_word(data, at, word)` read and write eight bytes, big-endian, of an array of bytes: at any
offset, in one instruction and not byte by byte.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

_WORD, _WIDE = ir.IntType(64), ir.IntType(128)


def _type_multiply_high(_context: Any, _one: Any, _other: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        one, other = (builder.zext(each, _WIDE) for each in arguments)
        product = builder.mul(one, other)
        return builder.trunc(builder.lshr(product, ir.Constant(_WIDE, 64)), _WORD)

    return types.uint64(types.uint64, types.uint64), generate


def _address(target: Any, builder: Any, array: Any, value: Any, at: Any) -> Any:
    make_array: Any = arrayobj.make_array
    data = make_array(array)(target, builder, value).data
    return builder.bitcast(builder.gep(data, [at]), _WORD.as_pointer())


def _type_load_word(_context: Any, data: Any, _at: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address = _address(target, builder, data, *arguments)
        return builder.bswap(builder.load(address, align=1))

    return types.uint64(data, types.int64), generate


def _type_store_word(_context: Any, data: Any, _at: Any, _word: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        value, at, word = arguments
        address = _address(target, builder, data, value, at)
        builder.store(builder.bswap(word), address, align=1)
        return target.get_dummy_value()

    return types.void(data, types.int64, types.uint64), generate


multiply_high: Any = intrinsic(_type_multiply_high)
load_word: Any = intrinsic(_type_load_word)
store_word: Any = intrinsic(_type_store_word)
