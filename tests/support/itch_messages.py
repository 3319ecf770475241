"""ITCH messages, written field by field, for tests."""

from collections.abc import Iterable

from bookwarp.io.itch_layout import MESSAGE_TYPES


def message(letter: str, **fields) -> bytes:
    """Return a message; a field that is not given is 0, or blanks."""
    parts = [letter.encode()]
    for name, form in MESSAGE_TYPES[letter].fields:
        size = int(form[1:])
        value = fields.pop(name, None)
        if form[0] == "a":
            parts.append((value or "").encode().ljust(size))
        else:
            parts.append((value or 0).to_bytes(size, "big"))
    assert not fields, fields
    return b"".join(parts)


def frame(messages: Iterable[bytes], lengths: bool = True) -> bytes:
    """Return a file of messages, each behind its length, or behind 0."""
    return b"".join((len(each) if lengths else 0).to_bytes(2, "big") + each for each in messages)


def add(order_id: int, side: str, shares: int, price: int, locate: int = 1, **fields) -> bytes:
    return message(
        "A",
        stock_locate=locate,
        order_reference_number=order_id,
        buy_sell_indicator=side,
        shares=shares,
        price=price,
        stock=fields.pop("stock", f"S{locate}"),
        **fields,
    )
