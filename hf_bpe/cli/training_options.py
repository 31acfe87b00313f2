"""Options that `hf-bpe train` and `hf-bpe count` share: what to read, how to cut it, and how far to go."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hf_bpe.limits import memory_size

_SOURCE = typer.Argument(
    metavar="SOURCE",
    help="Files, directories or globs of text, JSON lines, Parquet or Arrow, compressed or not; - is stdin.",
    show_default=False,
)
Sources = Annotated[list[str], _SOURCE]
OptionalSources = Annotated[list[str] | None, _SOURCE]
Alphabet = Annotated[str, typer.Option(help="What words are cut into: bytes or characters.")]
SplitPattern = Annotated[
    str | None, typer.Option(help="llama3 (default for bytes), gpt2, cl100k, o200k, qwen2, or a regex.")
]
PreTokenizer = Annotated[
    str | None, typer.Option(help="Characters: Metaspace (default), WhitespaceSplit, another name, or JSON.")
]
Normalizer = Annotated[str | None, typer.Option(help="NFC, NFD, NFKC or NFKD.")]
TextColumn = Annotated[str, typer.Option(help="Column of JSON lines, Parquet and Arrow.")]
SkipBadRows = Annotated[
    bool, typer.Option(help="Leave out rows that hold no text, and count them, or fail at the first.")
]
MaxMemory = Annotated[
    str | None,
    typer.Option(help="Memory for distinct pretokens, such as 8MB; a quarter of the machine's by default."),
]
TemporaryDirectory = Annotated[
    str | None, typer.Option(help="Where counts go that don't fit; the system's by default.")
]
MaxPretokenBytes = Annotated[
    str, typer.Option(help="Pretokens longer than this are counted in parts; none for no limit.")
]
CheckpointDir = Annotated[
    str | None, typer.Option(help="Folder for checkpoints of counting, to go on from after a stop.", metavar="DIR")
]
CheckpointMinutes = Annotated[float, typer.Option(min=0, help="How often a checkpoint is written.")]
ResumeFrom = Annotated[
    str | None,
    typer.Option(
        help="Folder of checkpoints to go on from. As --checkpoint-dir too, it may be empty: the same command then "
        "begins and goes on.",
        metavar="DIR",
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; all cores by default.")]
Progress = Annotated[bool, typer.Option(help="Show a bar on stderr.")]


def length_of(text: str) -> int | None:
    """Return what `--max-pretoken-bytes` says: a length, or None for none."""
    return None if text == "none" else memory_size("--max-pretoken-bytes", text)


def skipped_rows(report: Any) -> str:
    """Return what to say of rows that were left out, and of pretokens that were cut."""
    told = {
        "null rows skipped": report.null_rows,
        "bad rows skipped": report.bad_rows,
        "pretokens cut": report.cut_pretokens,
    }
    return "".join(f", {number:,} {what}" for what, number in told.items() if number)
