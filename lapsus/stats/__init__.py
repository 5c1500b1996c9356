"""The tests and intervals that metrics and reports share; docs/statistics.md has their simulated coverage and level.

Probabilities and rates are fractions; an interval is `[low, high]`, or None where the data say nothing about it.
Everything takes `clusters`, the original that each row was made from: rows of one original are not independent.

To describe and to compare two tracks, these are enough:

- `estimate_average(scores, clusters)`: a mean score and its interval.
- `compare_paired(first, second, clusters)`: the mean difference of two paired scores, right or wrong or graded, with its
  interval, the p-value that the interval inverts, the size of the effect, and the smallest difference that so many
  examples would find. (Average, worst and drops over several annotators: `micro_worst_average(..., clusters=...)`.)
- `holm(p_values)`: corrected p-values of one family of hypotheses; pass each hypothesis once.
- `compare_group_extremes(scores, groups, clusters)`: which groups of examples are served worst and best, and a test of the gap.
- `permutation_test(first, second, clusters)`: the same hypothesis, without assuming a distribution.
- `krippendorff_alpha(units)`: how far several judges of the same units agree.
"""

from lapsus.stats.agreement import krippendorff_alpha
from lapsus.stats.clusters import ClusterSums, sum_by_cluster, sum_by_cluster_number
from lapsus.stats.intervals import (
    AverageEstimate,
    Interval,
    check_level,
    clustered_rate_interval,
    clustered_wilson_interval,
    count_distinct_rows,
    effective_interval,
    estimate_average,
    jackknife_interval,
    percentile_interval,
    ratio_interval,
    resample_means,
    studentised_interval,
    wilson_interval,
)
from lapsus.stats.significance import (
    POWER,
    GroupRange,
    PairedComparison,
    bonferroni,
    compare_group_extremes,
    compare_paired,
    compute_effect_size,
    estimate_clustered_mean,
    estimate_difference,
    holm,
    mcnemar,
    minimum_detectable_difference,
    permutation_test,
    score_test,
    sign_test,
)

__all__ = [
    "POWER",
    "AverageEstimate",
    "ClusterSums",
    "GroupRange",
    "Interval",
    "PairedComparison",
    "bonferroni",
    "check_level",
    "clustered_rate_interval",
    "clustered_wilson_interval",
    "compare_group_extremes",
    "compare_paired",
    "compute_effect_size",
    "count_distinct_rows",
    "effective_interval",
    "estimate_average",
    "estimate_clustered_mean",
    "estimate_difference",
    "holm",
    "jackknife_interval",
    "krippendorff_alpha",
    "mcnemar",
    "minimum_detectable_difference",
    "percentile_interval",
    "permutation_test",
    "ratio_interval",
    "resample_means",
    "score_test",
    "sign_test",
    "studentised_interval",
    "sum_by_cluster",
    "sum_by_cluster_number",
    "wilson_interval",
]
