// Floats of the formulas: every operation is rounded by itself, so that the compiler can fuse none
// of them, and the bits are those of the same formulas in NumPy.

struct Real {
    double value;
};

DEVICE Real real(int64 whole) { return {__ll2double_rn(whole)}; }
DEVICE Real operator+(Real a, Real b) { return {__dadd_rn(a.value, b.value)}; }
DEVICE Real operator-(Real a, Real b) { return {__dsub_rn(a.value, b.value)}; }
DEVICE Real operator*(Real a, Real b) { return {__dmul_rn(a.value, b.value)}; }
DEVICE Real operator/(Real a, Real b) { return {__ddiv_rn(a.value, b.value)}; }
DEVICE Real operator*(int32 a, Real b) { return real(a) * b; }
DEVICE Real root(Real a) { return {__dsqrt_rn(a.value)}; }

constexpr Real ZERO = {0.0}, ONE = {1.0}, THREE = {3.0};

// Not a number, as NumPy writes it.
DEVICE Real undefined() { return {__longlong_as_double(0x7FF8000000000000ll)}; }

// part / whole, and `otherwise` where the whole is 0.
DEVICE Real ratio(Real part, Real whole, Real otherwise) {
    return whole.value != 0.0 ? part / whole : otherwise;
}
