"""Options that `hf-bpe train` alone has: what sources weigh, what is learned from their counts, and where it goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NamedSources = Annotated[
    list[str],
    typer.Option(
        "--source",
        metavar="NAME=SOURCE",
        help="One of several sources, instead of SOURCE; the same name again adds files to it.",
        show_default=False,
    ),
]
Weights = Annotated[
    list[str],
    typer.Option("--weight", metavar="NAME=SHARE", help="The share of the training of a source.", show_default=False),
]
Temperature = Annotated[
    float | None, typer.Option(help="Sources weigh their bytes to the power of 1 / this; the higher, the more equal.")
]
Quotas = Annotated[
    list[str],
    typer.Option(
        "--quota",
        metavar="NAME=SHARE",
        help="The least share of learned tokens that a source uses most.",
        show_default=False,
    ),
]
FromCounts = Annotated[bool, typer.Option("--from-counts", help="SOURCE is files that hf-bpe count wrote.")]
VocabSize = Annotated[int, typer.Option(min=1, help="Number of tokens, special tokens included.", show_default=False)]
Out = Annotated[Path, typer.Option(help="Directory to write.", show_default=False)]
SpecialTokens = Annotated[
    list[str], typer.Option("--special-token", help="A special token; may be given again.", show_default=False)
]
SpecialsLast = Annotated[bool, typer.Option("--special-tokens-last", help="Give special tokens the last ids.")]
BosToken = Annotated[str | None, typer.Option(help="The beginning-of-text token.")]
EosToken = Annotated[str | None, typer.Option(help="The end-of-text token.")]
PadToken = Annotated[str | None, typer.Option(help="The padding token.")]
UnkToken = Annotated[str | None, typer.Option(help="The token for what the vocabulary can't spell.")]
FuseUnk = Annotated[bool, typer.Option("--fuse-unk", help="Characters: one unknown token for several in a row.")]
ByteFallback = Annotated[bool, typer.Option("--byte-fallback", help="Characters: spell unknown ones by their bytes.")]
Suffix = Annotated[str | None, typer.Option(help="Characters: what ends a word, such as </w>.")]
Prefix = Annotated[str | None, typer.Option(help="Characters: what each but the first carries, such as ##.")]
InitialAlphabet = Annotated[str | None, typer.Option(help="Characters that are tokens, seen or not.")]
LimitAlphabet = Annotated[int | None, typer.Option(min=1, help="How many characters to keep, the most frequent.")]
MinFrequency = Annotated[int, typer.Option(min=0, help="How often a pair must occur to be merged.")]
MaxTokenLength = Annotated[
    int | None, typer.Option(min=1, help="Merged tokens stay shorter than this, in bytes or characters.")
]
WithinScripts = Annotated[bool, typer.Option("--within-scripts", help="Learned tokens are of one script each.")]
MaxDigits = Annotated[int | None, typer.Option(min=0, help="How many digits a learned token holds at most.")]
Protected = Annotated[
    list[str],
    typer.Option("--protect", help="A string that is always one token; may be given again.", show_default=False),
]
SegmenterName = Annotated[
    str | None, typer.Option("--segmenter", help="Keep merges inside words of jieba or icu, while training.")
]
PadToMultipleOf = Annotated[
    int | None, typer.Option(min=1, help="Fill up with <|pad_0|>, <|pad_1|> ... to a multiple of this.")
]
ChatTemplate = Annotated[
    str | None,
    typer.Option(help="Install a chat format: chatml, llama3, llama3.1, llama3.2, llama3.3, qwen2.5, qwen3."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        help="A page to write: bytes per token and the share of embeddings by vocabulary size.", metavar="FILE"
    ),
]
HiddenSize = Annotated[
    list[str],
    typer.Option(
        "--hidden-size", help="For the page: a model, as 4096:32 for 32 layers; may be given again.", show_default=False
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the tokenizer files of an existing directory.")]
