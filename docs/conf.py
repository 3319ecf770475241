"""Sphinx configuration. Nothing is fetched: no inventories of other projects, no fonts."""

from importlib.metadata import version as installed_version

project = "bookwarp"
author = "The bookwarp developers"
copyright = author
release = installed_version("bookwarp")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

# Every reference must resolve, except to names of other packages, which have no pages here.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(np|numpy|xr|xarray|pathlib|collections|os|typing|matplotlib|pyarrow)\..*"),
    (r"py:.*", r"(Any|Callable|Iterable|Mapping|Path|PathLike|Sequence)"),
    # Words of a docstring's Args section that stand where a type would.
    (r"py:class", r"(optional|int64|int8|uint64|float64).*"),
]

html_theme = "furo"
html_title = f"bookwarp {release}"
html_show_sphinx = False
html_copy_source = False
