// Sum what windows of a market's returns hold, and what each window tells of the next one.

extern "C" __global__ void __launch_bounds__(BLOCK)
sum_windows(const int64* last, int64* sums, uint32 entries, uint32 piece, uint32 rows,
            uint32 markets, uint32 first, uint32 count) {
    const uint32 place = blockIdx.x * BLOCK + threadIdx.x;
    if (place >= count) return;
    const Column price = column_of(last, markets, first + place);
    const Sums out = sums_of(sums, entries, piece, place);
    int64 nets = 0, coarses = 0, net_squares = 0, paths = 0, path_squares = 0, energies = 0;
    int64 energy_squares = 0, both = 0, to_fine = 0, to_coarse = 0;
    int64 coarse_first = 0, path_of_first = 0, coarse_before = 0, path_before = 0;
    int64 before = price[0];
    const uint32 windows = (rows - 1) / WINDOW;
    for (uint32 window = 0; window < windows; ++window) {
        int64 sum = 0, path_here = 0, energy_here = 0;
#pragma unroll 2  // not all ten: NVRTC 13.0 is wrong about some turns that are no power of two
        for (uint32 step = 1; step <= WINDOW; ++step) {
            const int64 here = price[(int64)window * WINDOW + step];
            const int64 change = here - before;
            before = here;
            sum += change, path_here += size_of(change), energy_here += change * change;
        }
        const int64 coarse = size_of(sum);
        nets += sum, coarses += coarse, net_squares += sum * sum;
        paths += path_here, path_squares += path_here * path_here;
        energies += energy_here, energy_squares += energy_here * energy_here;
        both += sum * energy_here;
        to_fine += coarse_before * path_here, to_coarse += path_before * coarse;
        if (window == 0) coarse_first = coarse, path_of_first = path_here;
        coarse_before = coarse, path_before = path_here;
    }
    out[net] = nets, out[net_abs] = coarses, out[net_square] = net_squares;
    out[path] = paths, out[path_square] = path_squares;
    out[energy] = energies, out[energy_square] = energy_squares, out[net_energy] = both;
    out[coarse_to_fine] = to_fine, out[fine_to_coarse] = to_coarse;
    out[net_abs_first] = coarse_first, out[net_abs_last] = coarse_before;
    out[path_first] = path_of_first, out[path_last] = path_before;
}
