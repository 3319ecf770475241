"""Sphinx configuration. Nothing is fetched: no inventories of other projects, no fonts."""

from importlib.metadata import version as installed_version

from sphinx.pycode import ModuleAnalyzer

import bookwarp

project = "bookwarp"
author = "The bookwarp developers"
copyright = author
release = installed_version("bookwarp")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_heading_anchors = 3
# What stands between single backquotes in a docstring is code.
default_role = "code"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
# Arguments that share an entry in a docstring share one on the page.
napoleon_use_param = False
napoleon_use_rtype = False

# Every reference must resolve, except to names of other packages, which have no pages here.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(np|numpy|pa|xr|xarray|pathlib|collections|os|typing|matplotlib|pyarrow)\..*"),
    (r"py:.*", r"(Any|Callable|Figure|Iterable|Mapping|Path|PathLike|Sequence)"),
    # Descriptions of a run that are checked by its arguments: described there.
    (r"py:class", r"bookwarp\.spec\.(market\.CallAuction|record\.RecordPlan)"),
]


def start_with_comment(_app, what, _name, _obj, _options, lines):
    """Keep Napoleon from taking what stands before a colon in a property's docstring for its type.

    It looks at the first line only. Properties and attributes have annotations here.
    """
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]


def take_docstring_of_data(_app, what, name, _obj, _options, lines):
    """Say of a public value what stands below it in its module, not what its type says."""
    public = name.removeprefix("bookwarp.")
    if what == "data" and public in bookwarp._PUBLIC:
        found = ModuleAnalyzer.for_module(bookwarp._PUBLIC[public]).find_attr_docs()
        lines[:] = found["", public]


def setup(app):
    """Connect what runs before Napoleon, whose priority is 500."""
    app.connect("autodoc-process-docstring", start_with_comment, priority=400)
    app.connect("autodoc-process-docstring", take_docstring_of_data, priority=400)


html_theme = "furo"
html_title = f"bookwarp {release}"
html_show_sphinx = False
html_copy_source = False
