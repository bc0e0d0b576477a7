"""The paper's pictures, for notebooks and files; they need the extra `plots` (matplotlib).

Every function returns a matplotlib figure, which a notebook shows and `save_plot` or `savefig`
writes. Nothing goes through pyplot, so no figure stays open and no setting changes. Give `ax` to
draw into axes of your own.
"""

from doppeltrace.plots.canvas import check_plot, save_plot
from doppeltrace.plots.curves import plot_pass_rate, plot_times
from doppeltrace.plots.maps import plot_factors, plot_population
from doppeltrace.plots.tradeoff import plot_summary, plot_tradeoff
from doppeltrace.plots.visits import plot_visit_fractions

__all__ = [
    "check_plot",
    "plot_factors",
    "plot_pass_rate",
    "plot_population",
    "plot_summary",
    "plot_times",
    "plot_tradeoff",
    "plot_visit_fractions",
    "save_plot",
]
