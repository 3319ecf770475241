// Lots sent to one price, to buy and to sell. Those that agents send in a step fit 16 bits each, and are
// packed: all of them low, buys high. Those that wait for the auction of a later step need not fit, nor
// need those of an execution agent, which go where marketable lots go.

#if WAITS || EXECUTES
typedef Lots Marketable;
#else
typedef int32 Marketable;
#endif

#if WAITS

struct Sides {
    Lots buy, sell;
};

DEVICE Sides unpack(uint32 packed) {
    return {(Lots)(packed >> 16), (Lots)((packed & 0xFFFF) - (packed >> 16))};
}

DEVICE Sides operator+(const Sides& a, const Sides& b) { return {a.buy + b.buy, a.sell + b.sell}; }

// Those of a lane, counted from the first of each `width` lanes.
DEVICE Sides from_lane_of(int32 width, const Sides& lots, int32 lane) {
    return {__shfl_sync(ALL_LANES, lots.buy, lane, width),
            __shfl_sync(ALL_LANES, lots.sell, lane, width)};
}

DEVICE void add_lots(const Sides& lots, Lots& buy, Lots& sell) { buy += lots.buy, sell += lots.sell; }

#else

typedef uint32 Sides;

DEVICE Sides unpack(uint32 packed) { return packed; }

DEVICE Sides from_lane_of(int32 width, Sides lots, int32 lane) {
    return __shfl_sync(ALL_LANES, lots, lane, width);
}

DEVICE void add_lots(Sides lots, Lots& buy, Lots& sell) {
    buy += lots >> 16;
    sell += (lots & 0xFFFF) - (lots >> 16);
}

#endif
