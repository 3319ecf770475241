"""What the kernels know of the paper's rounding to float32, held against the rounding itself."""

import numpy as np
import pytest

from bookwarp.spec.random import paper_hash_limit


@pytest.mark.parametrize("probability", [0, 1e-12, 3e-9, 0.1, 0.15, 0.5, 1 - 2**-24, 1])
def test_the_limit_of_papers_hashes_is_where_the_rounded_fraction_reaches_the_chance(probability):
    limit = int(paper_hash_limit(np.array([probability]))[0])
    assert limit % 2**11 == 0

    def marketable(hashed):
        return np.float32((hashed >> 11) * 2.0**-53) < np.float32(probability)

    near = range(max(0, limit - 3000), min(2**64, limit + 3000), 7)
    assert [marketable(hashed) for hashed in near] == [hashed < limit for hashed in near]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 11, 126, 128])
def test_the_upper_word_says_when_it_cannot_decide(count):
    """The rule of paper_below_by_high in random.cuh, where it is most in danger: at its margins."""
    margin = 513 * 128 + 2
    whole = [-(-(number << 32) // count) for number in range(count + 1)]
    rng = np.random.default_rng(count)
    highs = [
        high + off for high in whole for off in (*range(-3, 4), *rng.integers(-(10**6), 10**6, 50))
    ]
    undecided = 0
    for high in (int(each) for each in highs if 0 <= each < 2**32):
        product = high * count
        if not margin <= product % 2**32 < 2**32 - margin:
            undecided += 1
            continue
        for low in (0, 2**31, 2**32 - 1):
            uniform = np.float32((((high << 32) + low) >> 11) * 2.0**-53)
            assert int(uniform * np.float32(count)) == product >> 32
    assert 0 < undecided < len(highs)
