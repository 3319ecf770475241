"""A call in a process of its own: what breaks a GPU's context, or never ends, is left behind."""

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


class CallError(Exception):
    """The call raised, ended its process, or took too long."""


def call_alone(function: Callable[..., Any], *arguments: Any, timeout_s: float) -> Any:
    """Return what `function` returns in a new process; both can be imported and pickled.

    Raises:
        CallError: it did not return in time, or not at all.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(timeout_s):
            raise CallError(f"no answer within {timeout_s:.0f} s")
        returned, answer = ours.recv()
    except EOFError:
        process.join()
        raise CallError(f"its process ended with code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
        ours.close()
    if not returned:
        raise CallError(answer)
    return answer


def _answer(connection: Connection, function: Callable[..., Any], arguments: Any) -> None:
    try:
        connection.send((True, function(*arguments)))
    except BaseException:
        connection.send((False, traceback.format_exc()))
        raise
