"""Releases in the formats and frames of other programs; never more than a release holds."""

from doppeltrace.exports.files import FORMATS, export
from doppeltrace.exports.frames import to_geopandas, to_pandas, to_scikit_mobility, to_trackintel

__all__ = [
    "FORMATS",
    "export",
    "to_geopandas",
    "to_pandas",
    "to_scikit_mobility",
    "to_trackintel",
]
