"""The kernels of the cuda engine as a C++ compiler takes them, and how emulated warps run them.

Their sources are those that a GPU gets (`join_sources`), but for the few instructions that are
written in PTX: each has a form in C++ here, and one that has none is an error.
"""

import re

from emulated_kernels import EmulatedCode

from bookwarp.engines.cuda.compile import join_sources
from bookwarp.engines.cuda.part import grid_of

_MULTIPROCESSORS = 2
_MARKET_COUNT = 6
"""Which of the arguments of a kernel."""
_ADD_FROM_BELOW = (
    "{{ .reg .pred inside; .reg .b32 below; shfl.sync.up.b32 below|inside, %0, %1, {}, 0xFFFFFFFF; "
    "@inside add.s32 %0, %0, below; }}"
)
# PTX in one line -> C++, of its operands.
_IN_CPP = {
    "": "",
    "shr.u32 %0, %1, 31;": "{0} = {1} >> 31;",
    "shl.b32 %0, %1, %2;": "{0} = {2} < 32 ? {1} << ({2}) : 0;",
    "mul.wide.u32 %0, %1, %2;": "{0} = (uint64)({1}) * {2};",
    "mad.lo.u32 %0, %1, %2, %0;": "{0} += {1} * {2};",
    "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %6, %5, %6}, "
    "{%7, %8}, {%6, %6, %6, %6};": (
        "{{ uint2 both = multiply_bytes({4}, {5}, {7}, {8}); {0} = both.x, {1} = both.y; }}"
    ),
    _ADD_FROM_BELOW.format("0"): "{0} += from_below({0}, {1}, LANES);",
    _ADD_FROM_BELOW.format("%2"): "{0} += from_below({0}, {1}, LANES - (({2}) >> 8));",
}
_FROM_BELOW = """
template <class Value>
Value from_below(Value value, unsigned by, unsigned width) {
    Value below = __shfl_up_sync(~0u, value, by, width);
    return threadIdx.x % width >= by ? below : 0;
}
"""
_ASM = re.compile(
    r"asm(?: volatile)?\(\s*(?P<text>(?:\"[^\"]*\"\s*)+)(?P<operands>:.*?)\);", re.DOTALL
)
_OPERAND = re.compile(r"\"[=+]?[a-z]\"\(")


def in_cpp(source: str) -> str:
    """Return a kernel's source with its PTX in C++.

    Raises:
        KeyError: an instruction has no form here.
    """
    # A launch says how large this is; here it is as large as any launch has it.
    source = source.replace(
        "extern __shared__ Lots histograms[];", "__shared__ Lots histograms[2 * LEVELS];"
    )
    return _ASM.sub(_statement, source)


def run_on_warps(key, *arguments) -> None:
    """Launch the kernel of a key on what a launch on a GPU is given.

    Raises:
        AssertionError: the threads of a warp did not keep together.
    """
    code = EmulatedCode(_FROM_BELOW + in_cpp(join_sources(key)))
    grid = grid_of(key, int(arguments[_MARKET_COUNT]), _MULTIPROCESSORS)
    code.get_kernel(key.entry)(grid, key.block, *arguments)


def _statement(found: re.Match[str]) -> str:
    text = "".join(re.findall(r"\"([^\"]*)\"", found["text"])).replace("\\n", " ")
    operands = found["operands"]
    inside = [_up_to_closing(operands, match.end()) for match in _OPERAND.finditer(operands)]
    return _IN_CPP[" ".join(text.split())].format(*inside)


def _up_to_closing(text: str, start: int) -> str:
    """Return what stands between a parenthesis, which ends before `start`, and its other half."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place]
    raise ValueError(f"an operand does not end: {text}")
