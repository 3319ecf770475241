"""P-values of counts and scores. All are two-sided: too good a fit is suspect as well."""

import numpy as np
from scipy import stats

FEWEST_IN_A_CELL = 10


def chi_square(statistic, freedom):
    """Return the p-value of a statistic that is distributed as chi-square."""
    lower, upper = stats.chi2.cdf(statistic, freedom), stats.chi2.sf(statistic, freedom)
    return float(min(1.0, 2 * min(lower, upper)))


def fit(codes, shares):
    """Return the p-value of codes 0 .. under the share each should have (Pearson's chi-square).

    Cells that should hold too few for the approximation are taken together.
    """
    shares = np.ravel(shares)
    assert np.isclose(shares.sum(), 1)
    counts = np.bincount(np.ravel(codes), minlength=len(shares))
    expected = counts.sum() * shares
    few = expected < FEWEST_IN_A_CELL
    if few.any():
        counts = np.append(counts[~few], counts[few].sum())
        expected = np.append(expected[~few], expected[few].sum())
    assert expected.min() >= 1
    return chi_square(np.sum((counts - expected) ** 2 / expected), len(expected) - 1)


def normal(scores):
    """Return the p-value of uncorrelated standard normal scores, by the sum of their squares."""
    scores = np.asarray(scores, np.float64)
    return chi_square(np.sum(scores**2), scores.size)


def poisson(count, mean):
    """Return the p-value of a Poisson count."""
    lower, upper = stats.poisson.cdf(count, mean), stats.poisson.sf(count - 1, mean)
    return float(min(1.0, 2 * min(lower, upper)))


def binomial_shares(trials):
    """Return the chance of each count 0 .. trials of heads of a fair coin."""
    return stats.binom.pmf(np.arange(trials + 1), trials, 0.5)
