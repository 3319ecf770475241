"""A table in Markdown."""

from collections.abc import Iterable, Sequence


def markdown(heads: Sequence[str], body: Sequence[Sequence[str]], right: Iterable[int]) -> str:
    """Return a Markdown table; `right` are the columns that are aligned to the right."""
    if not body:
        return "Not measured yet."
    aligned = set(right)
    rule = ["--:" if column in aligned else "---" for column in range(len(heads))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *body))
