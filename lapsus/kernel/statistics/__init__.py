"""The tests and intervals that metrics and reports share; docs/statistics.md has their simulated coverage and level.

Probabilities and rates are fractions; an interval is `[low, high]`, or None where the data say nothing about it.
Everything takes `clusters`, the original that each row was made from: rows of one original are not independent.

To describe and to compare two tracks, these are enough:

- `average(scores, clusters)`: a mean score and its interval.
- `compare(first, second, clusters)`: the mean difference of two paired scores, right or wrong or graded, with its
  interval, the p-value that the interval inverts, the size of the effect, and the smallest difference that so many
  examples would find. (Average, worst and drops over several annotators: `micro_worst_average(..., clusters=...)`.)
- `holm(p_values)`: corrected p-values of one family of hypotheses; pass each hypothesis once.
- `group_gap(scores, groups, clusters)`: which groups of examples are served worst and best, and a test of the gap.
- `permutation_test(first, second, clusters)`: the same hypothesis, without assuming a distribution.
- `krippendorff_alpha(units)`: how far several judges of the same units agree.
"""

from lapsus.kernel.statistics.agreement import krippendorff_alpha
from lapsus.kernel.statistics.clusters import Clustered, clustered, of_numbers
from lapsus.kernel.statistics.comparison import (
    Comparison,
    clustered_mean,
    compare,
    detectable_difference,
    effect_size,
    score_difference,
    score_test,
)
from lapsus.kernel.statistics.discordance import mcnemar, sign_test
from lapsus.kernel.statistics.families import bonferroni, holm
from lapsus.kernel.statistics.groups import Gap, group_gap
from lapsus.kernel.statistics.permutation import permutation_test
from lapsus.kernel.statistics.rates import (
    Average,
    Interval,
    average,
    check_level,
    clustered_rate,
    clustered_wilson,
    effective_interval,
    jackknife_rate,
    ratio_interval,
    wilson,
)
from lapsus.kernel.statistics.resampling import (
    distinct_rows,
    percentile_interval,
    resampled_means,
    studentised_interval,
)

__all__ = [
    "Average",
    "Clustered",
    "Comparison",
    "Gap",
    "Interval",
    "average",
    "bonferroni",
    "check_level",
    "clustered",
    "clustered_mean",
    "clustered_rate",
    "clustered_wilson",
    "compare",
    "detectable_difference",
    "distinct_rows",
    "effect_size",
    "effective_interval",
    "group_gap",
    "holm",
    "jackknife_rate",
    "krippendorff_alpha",
    "mcnemar",
    "of_numbers",
    "percentile_interval",
    "permutation_test",
    "ratio_interval",
    "resampled_means",
    "score_difference",
    "score_test",
    "sign_test",
    "studentised_interval",
    "wilson",
]
