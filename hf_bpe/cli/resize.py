"""`hf-bpe resize`: a model's checkpoint for another vocabulary."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Annotated

import typer

from hf_bpe.cli.output import json_line, printable, reported_failures, write

_EXAMPLES = """
Examples:

    hf-bpe resize gpt2 gpt2 my-extended-tokenizer gpt2-extended

    hf-bpe resize llama old-tokenizer new-tokenizer out --pad-to-multiple-of 64 --init mean
"""

Checkpoint = Annotated[
    Path,
    typer.Argument(metavar="CHECKPOINT", help="A directory with safetensors.", exists=True, file_okay=False),
]
Old = Annotated[
    Path, typer.Argument(metavar="OLD", help="The directory of its tokenizer.", exists=True, file_okay=False)
]
New = Annotated[
    Path, typer.Argument(metavar="NEW", help="The directory of the new tokenizer.", exists=True, file_okay=False)
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="The directory to make.", show_default=False)]
Init = Annotated[str, typer.Option(help="How new rows are made: mean_of_parts, mean, normal or zeros.")]
Seed = Annotated[int, typer.Option(min=0, help="Of --init normal.")]
Multiple = Annotated[int | None, typer.Option("--pad-to-multiple-of", min=1, help="Add rows up to a multiple.")]
Tensors = Annotated[
    list[str],
    typer.Option(
        "--tensor", metavar="NAME", help="A tensor with one row a token; may be given again.", show_default=False
    ),
]
IdMap = Annotated[
    Path | None,
    typer.Option("--id-map", help="JSON: the new id of each old one, as prune leaves it.", exists=True, dir_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print what was done as one line of JSON.")]
Progress = Annotated[
    bool | None, typer.Option(help="Show a bar on stderr; by default on a terminal.", show_default=False)
]


def resize(
    checkpoint: Checkpoint,
    old: Old,
    new: New,
    out: Out,
    init: Init = "mean_of_parts",
    seed: Seed = 0,
    pad_to_multiple_of: Multiple = None,
    tensors: Tensors = [],  # noqa: B006 (typer copies defaults)
    id_map: IdMap = None,
    json: Json = False,
    progress: Progress = None,
) -> None:
    """Make a model's embeddings follow its vocabulary from OLD to NEW: input, output head and config.

    Works on safetensors without torch, in the memory of one tensor. CHECKPOINT is only read.
    """
    with reported_failures():
        from dataclasses import asdict
        from typing import cast

        from hf_bpe.embeddings import Init, resize_checkpoint
        from hf_bpe.tokenizer import HfBpeTokenizer

        report = resize_checkpoint(
            checkpoint,
            HfBpeTokenizer.from_pretrained(old),
            HfBpeTokenizer.from_pretrained(new),
            out,
            id_map=None if id_map is None else _id_map(id_map),
            init=cast(Init, init),
            seed=seed,
            pad_to_multiple_of=pad_to_multiple_of,
            tensors=tensors or None,
            progress=progress,
        )
        write(json_line(asdict(report)) + "\n" if json else f"{printable(str(report), keep_lines=True)}\n")


resize.__doc__ = f"{cleandoc(resize.__doc__ or '')}\n\n\b{_EXAMPLES}"


def _id_map(path: Path) -> dict[int, int]:
    import json

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        ids = {int(old): new for old, new in content.items()}
        if any(isinstance(new, bool) or not isinstance(new, int) for new in ids.values()):
            raise ValueError
    except (AttributeError, ValueError):
        raise ValueError(f'{path}: holds no object of ids, such as {{"5": 3}}.') from None
    return ids
