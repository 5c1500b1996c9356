"""The intervals and tests that metrics and reports share; docs/statistics.md has their simulated coverage and level.

Probabilities and rates are fractions; an interval is `[low, high]`, or None where the data do not determine it.
All functions take `clusters`: rows with the same value have one original, and are not independent.

To describe and to compare two tracks, these are enough:

- `estimate_average(scores, clusters)`: a mean score and its interval.
- `compare_paired(first, second, clusters)`: the mean difference of two paired scores, right or wrong or graded, with
  its interval, the p-value that the interval inverts, the effect size, and the smallest detectable difference.
  (Average, worst average and drops over several annotators: `micro_worst_average(..., clusters=...)`.)
- `holm(p_values)`: corrected p-values of one family of hypotheses; pass each hypothesis once.
  `benjamini_hochberg(p_values)`: the same where one looks for what to look at.
- `compare_group_extremes(scores, groups, clusters)`: the groups with the lowest and the highest mean, and a test of the
  gap between them.
- `permutation_test(first, second, clusters)`: the same hypothesis as `compare_paired`, without assuming a distribution.
- `count_examples(model, n_examples, difference)`: how many examples find a difference with a chance of 80 %;
  `count_examples_within(model, n_examples, drop, margin)`: how many show that a drop is below a margin.
- `krippendorff_alpha(units)`: the agreement of several judges of the same units.
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
    estimate_mean,
    jackknife_interval,
    new_annotators_interval,
    percentile_interval,
    ratio_interval,
    resample_means,
    wilson_interval,
)
from lapsus.stats.planning import count_examples, count_examples_within, scale_model
from lapsus.stats.significance import (
    POWER,
    DetectionModel,
    GroupRange,
    PairedComparison,
    benjamini_hochberg,
    bonferroni,
    compare_group_extremes,
    compare_paired,
    compute_effect_size,
    compute_p_value,
    estimate_difference,
    holm,
    permutation_test,
    sign_test,
)

__all__ = [
    "POWER",
    "AverageEstimate",
    "ClusterSums",
    "DetectionModel",
    "GroupRange",
    "Interval",
    "PairedComparison",
    "benjamini_hochberg",
    "bonferroni",
    "check_level",
    "clustered_rate_interval",
    "clustered_wilson_interval",
    "compare_group_extremes",
    "compare_paired",
    "compute_effect_size",
    "compute_p_value",
    "count_distinct_rows",
    "count_examples",
    "count_examples_within",
    "effective_interval",
    "estimate_average",
    "estimate_difference",
    "estimate_mean",
    "holm",
    "jackknife_interval",
    "krippendorff_alpha",
    "new_annotators_interval",
    "percentile_interval",
    "permutation_test",
    "ratio_interval",
    "resample_means",
    "scale_model",
    "sign_test",
    "sum_by_cluster",
    "sum_by_cluster_number",
    "wilson_interval",
]
