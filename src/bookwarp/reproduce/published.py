"""Numbers that the KineticSim paper (arXiv:2606.21784) and its repository publish."""

from dataclasses import dataclass

import numpy as np

PAPER = "arXiv:2606.21784"
REPOSITORY = "KineticSim/Project-KineticSim on GitHub"

# Table II: back end, mean clearing price (tick), volume a market (lot); M = 4096, A = 256.
TABLE2_MARKETS = 4096
TABLE2 = (
    ("CPU (NumPy)", 63.937, 96392.1),
    ("PyTorch GPU", 63.987, 96438.2),
    ("Naive Custom CUDA", 63.941, 96381.2),
    ("KineticSim", 63.941, 96381.2),
)


@dataclass(frozen=True)
class EndOfRun:
    """Means over the markets after 500 steps, seed 0, default mix, 128 levels."""

    markets: int
    agents: int
    mean_last_price: float
    std_last_price: float
    """Computed in float32 by its authors."""
    mean_volume: float
    mean_trades: float


# Rows of backend kineticsim_cuda in benchmarks/results.csv of the repository.
END_OF_RUN = (
    EndOfRun(64, 256, 63.75, 1.6488631963729858, 96937.75, 500.0),
    EndOfRun(256, 256, 63.8671875, 2.2478151321411133, 96782.78125, 500.0),
    EndOfRun(1024, 256, 63.8828125, 1.7212871313095093, 96492.1826171875, 500.0),
    EndOfRun(4096, 256, 63.940673828125, 1.6116173267364502, 96381.21875, 500.0),
    EndOfRun(16384, 256, 63.92901611328125, 1.6120738983154297, 96416.42114257812, 500.0),
    EndOfRun(8192, 16, 64.0399169921875, 9.656755447387695, 7009.0904541015625, 499.9964599609375),
    EndOfRun(8192, 64, 63.899658203125, 5.603382110595703, 25734.14904785156, 500.0),
    EndOfRun(8192, 256, 63.929931640625, 1.6669678688049316, 96392.85522460938, 500.0),
    EndOfRun(8192, 1024, 63.972412109375, 1.396920680999756, 372647.2585449219, 500.0),
)
END_OF_RUN_STEPS = 500


def equals_published(found: float, published: float) -> bool:
    """Return whether `found` has the 16 significant digits with which results.csv is written."""
    return f"{found:.16g}" == f"{published:.16g}"


# Section IV.J, the text on Figure 7: (statistic, momentum share or lag) -> value.
FIGURE7_TEXT = {
    ("price_std", 0.0): 0.95,
    ("price_std", 0.65): 26.90,
    ("price_std", 0.70): 25.19,
    ("volume_per_step", 0.0): 169.0,
    ("volume_per_step", 0.70): 263.3,
    ("acf_returns", 1): -0.34,
    ("acf_abs_returns", 1): 0.18,
}
FIGURE7_KURTOSIS_PEAK = 26.34
FIGURE7_KURTOSIS_SHARES = (0.60, 0.70)
"""The peak of the excess kurtosis, and the momentum shares between which it is said to be."""

# benchmarks/phase_diagram.csv of the repository, maker share 0.15, no fundamental agents: the
# sweep of Figure 7 by the published CUDA engine, 1024 markets, 1000 steps, seed 42.
SWEEP_MARKETS = 1024
SWEEP_STEPS = 1000
SWEEP_SEED = 42
_SWEEP = np.array(
    [
        # share, standard deviation of price, excess kurtosis of returns, volume a step
        [0.00, 0.9495905660753126, 2.864734262975835, 168.2880888671875],
        [0.05, 0.9605107248971465, 2.8256470069016655, 175.6097275390625],
        [0.10, 0.9678065987547481, 2.790692318423927, 183.7105458984375],
        [0.15, 0.9704707107429238, 2.5563573656888456, 192.8641513671875],
        [0.20, 1.1963547603364937, 2.2111387468786368, 202.7209296875],
        [0.25, 4.103481595810038, 1.6175516889595793, 211.795962890625],
        [0.30, 6.749450892014081, 0.9686933834933875, 218.6075771484375],
        [0.35, 7.093903418511254, 0.706643931134584, 226.8828173828125],
        [0.40, 8.064409170984263, 0.550123856120214, 235.4217080078125],
        [0.45, 8.516718439116605, 0.4157117495706467, 244.3036923828125],
        [0.50, 8.953131606561504, 0.3224765389761347, 253.540263671875],
        [0.55, 11.81099873458108, 0.20279734097637345, 259.6006201171875],
        [0.60, 19.867383968418412, 0.061876449717244, 259.794634765625],
        [0.65, 23.950293629805408, 1.8672188614916994, 259.6159326171875],
        [0.70, 24.498144687584148, 18.556342467519755, 263.376599609375],
    ]
)
SWEEP_SHARES = _SWEEP[:, 0]
SWEEP = {
    "price_std": _SWEEP[:, 1],
    "excess_kurtosis": _SWEEP[:, 2],
    "volume_per_step": _SWEEP[:, 3],
}
"""By statistic: mean over the markets at each of `SWEEP_SHARES`, float64 [share]."""
