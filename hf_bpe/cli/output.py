"""What every command shares: how results are written, and how a failure is told.

A token may hold any bytes, terminal escapes among them: whatever is shown to a person passes `printable`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Literal

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

# The control characters C0 and C1, DEL, and those that reorder or break a line: what can make a terminal, or
# the eye, see something else than the text.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_CONTROLS_IN_TEXT = re.compile(rf"(?![\n\t]){_CONTROLS.pattern}")
_LINE_LIMIT = 500
_PIPE_WIDTH = 120


def printable(text: str, *, keep_lines: bool = False) -> str:
    r"""Return `text` with control characters written as escapes.

    Args:
        text: Any text.
        keep_lines: Whether newlines and tabs stay as they are.

    Example:
        >>> printable("a\x1b[31mb\n")
        'a\\x1b[31mb\\n'
    """
    pattern = _CONTROLS_IN_TEXT if keep_lines else _CONTROLS
    return pattern.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def json_line(value: object) -> str:
    r"""Return `value` as one line of JSON: readable, with every control character as `\uXXXX`."""
    text = json.dumps(value, ensure_ascii=False)
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write(text: str) -> None:
    """Write `text` to stdout, as UTF-8 whatever the locale is."""
    if sys.stdout is None:
        raise OSError("stdout is closed")
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def show(*renderables: RenderableType) -> None:
    """Write text with colours, and tables, to stdout: in colours on a terminal that has them, and plain in a pipe.

    Text is left to the terminal to wrap, so that it can be copied. It must come as text objects: rich reads markup in
    strings.
    """
    from rich.console import Console
    from rich.text import Text

    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = None if on_terminal or "COLUMNS" in os.environ else _PIPE_WIDTH
    colours: Literal["auto"] | None = "auto" if on_terminal else None
    console = Console(markup=False, highlight=False, emoji=False, width=width, color_system=colours)
    with console.capture() as captured:
        for renderable in renderables:
            console.print(renderable, soft_wrap=isinstance(renderable, Text))
    write(captured.get())


def stdin() -> BinaryIO:
    """Return stdin, whose bytes are read as they are."""
    if sys.stdin is None:
        raise OSError("stdin is closed")
    return sys.stdin.buffer


def message(text: str) -> None:
    """Write one line to stderr, unless that is closed."""
    if sys.stderr is None:
        return
    line = printable(" ".join(text.split()))
    shown = line if len(line) <= _LINE_LIMIT else f"{line[:_LINE_LIMIT]}..."
    print(f"hf-bpe: {shown}", file=sys.stderr, flush=True)


@contextmanager
def reported_failures() -> Iterator[None]:
    """Turn a failure inside the block into one line on stderr and an exit code. Warnings become lines too."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_args, **_kwargs: message(f"warning: {text}")
        try:
            yield
            if sys.stdout is not None:
                sys.stdout.flush()
        except (typer.Exit, typer.BadParameter):
            raise
        except KeyboardInterrupt:
            message("interrupted")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # Python flushes stdout once more on its way out; that must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from None
        except Exception as error:  # of any kind: what reads the corpus has its own, such as EOFError
            message(f"error: {_reason(error)}")
            raise typer.Exit(1) from None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = str(error)
    if not text:
        return type(error).__name__
    telling = isinstance(error, OSError | TypeError | ValueError | ImportError)
    return text if telling else f"{type(error).__name__}: {text}"
