// From exact sums to moments and correlations, as bookwarp.measures.moments. Sums are first moved,
// by integers, to the whole number that is nearest to the mean.

DEVICE int64 nearest(int64 total, int64 count) {
    return __double2ll_rn((real(total) / real(count)).value);
}

struct Moments {
    Real mean, second, third, fourth;
};

// Mean and central moments; the moments are 0 if all values are the same.
DEVICE Moments central_moments(int64 count, int64 first, int64 second, int64 third, int64 fourth) {
    const int64 near = nearest(first, count), square = near * near;
    const int64 spread_out = second - 2 * near * first + count * square;
    const Real n = real(count);
    const Real d = real(first - count * near) / n;
    const Real a = real(spread_out) / n;
    const Real b = real(third - 3 * near * second + 3 * square * first - count * square * near) / n;
    const Real c = real(fourth - 4 * near * third + 6 * square * second - 4 * square * near * first
                        + count * square * square) / n;
    const bool varies = spread_out > 0;
    return {
        real(near) + d,
        varies ? a - d * d : ZERO,
        varies ? b - 3 * d * a + 2 * d * d * d : ZERO,
        varies ? c - 4 * d * b + 6 * d * d * a - 3 * d * d * d * d : ZERO,
    };
}

// The population's variance; 0 if all values are the same.
DEVICE Real variance(int64 count, int64 first, int64 second) {
    const int64 near = nearest(first, count);
    const Real rest = real(first - count * near) / real(count);
    const int64 square = second - 2 * near * first + count * near * near;
    return square > 0 ? real(square) / real(count) - rest * rest : ZERO;
}

// Sum and sum of squares of one of two series.
struct Pair {
    int64 first, second;
};

// Pearson's correlation of two series; 0 where one of them never changes.
DEVICE Real correlation(int64 count, Pair x, Pair y, int64 product) {
    const int64 near_x = nearest(x.first, count), near_y = nearest(y.first, count);
    const Real n = real(count);
    const Real mean_x = real(x.first - count * near_x) / n;
    const Real mean_y = real(y.first - count * near_y) / n;
    const int64 square_x = x.second - 2 * near_x * x.first + count * near_x * near_x;
    const int64 square_y = y.second - 2 * near_y * y.first + count * near_y * near_y;
    if (square_x <= 0 || square_y <= 0) return ZERO;
    const int64 moved = product - near_y * x.first - near_x * y.first + count * near_x * near_y;
    const Real shared = real(moved) / n - mean_x * mean_y;
    const Real scale =
        (real(square_x) / n - mean_x * mean_x) * (real(square_y) / n - mean_y * mean_y);
    const double found = (shared / root(scale)).value;
    return {found < -1.0 ? -1.0 : found > 1.0 ? 1.0 : found};
}
