"""`hf-bpe train`: from text to a tokenizer directory, whole or not at all."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hf_bpe.cli.directories import whole_directory, whole_files
from hf_bpe.cli.output import message, printable, reported_failures, write
from hf_bpe.cli.training_options import (
    Alphabet,
    CheckpointDir,
    CheckpointMinutes,
    MaxMemory,
    MaxPretokenBytes,
    Normalizer,
    OptionalSources,
    PreTokenizer,
    Progress,
    ResumeFrom,
    SkipBadRows,
    SplitPattern,
    TemporaryDirectory,
    TextColumn,
    Threads,
    length_of,
    skipped_rows,
)
from hf_bpe.cli.training_sources import counts_of, numbers_of, texts_of
from hf_bpe.limits import MAX_PRETOKEN_BYTES

_EPILOG = r"""
Examples:

    hf-bpe train corpus.txt --vocab-size 32000 --out my-tokenizer

    hf-bpe train 'data/*.parquet' --text-column content --vocab-size 50000 --eos-token '<|end|>' --out my-tokenizer

    hf-bpe train corpus.txt --alphabet characters --byte-fallback --unk-token '<unk>' --vocab-size 32000 --out sp

    hf-bpe train corpus.txt --vocab-size 32000 --chat-template chatml --out my-tokenizer

    hf-bpe train --from-counts a.parquet b.parquet --vocab-size 32000 --out my-tokenizer

    hf-bpe train corpus.txt --vocab-size 128000 --out my-tokenizer --report report.html --hidden-size 4096:32

    hf-bpe train corpus.txt --vocab-size 32000 --out my-tokenizer --checkpoint-dir stops --resume-from stops

    hf-bpe train --source 'en=en/*.txt' --source zh=zh.jsonl --quota zh=0.3 --vocab-size 32000 --out both

    zcat corpus.gz | hf-bpe train - --vocab-size 8000 --split-pattern gpt2 --out my-tokenizer
"""

_OF_TEXTS = (
    "text_column",
    "skip_bad_rows",
    "max_pretoken_bytes",
    "threads",
    "checkpoint_dir",
    "checkpoint_minutes",
    "resume_from",
)
"""Parameters that are for reading texts, so that counts have no use for them."""

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


def train(
    context: typer.Context,
    vocab_size: VocabSize,
    out: Out,
    sources: OptionalSources = None,
    named_sources: NamedSources = [],  # noqa: B006 (typer copies defaults)
    weights: Weights = [],  # noqa: B006
    temperature: Temperature = None,
    quotas: Quotas = [],  # noqa: B006
    from_counts: FromCounts = False,
    alphabet: Alphabet = "bytes",
    split_pattern: SplitPattern = None,
    normalizer: Normalizer = None,
    pre_tokenizer: PreTokenizer = None,
    special_tokens: SpecialTokens = [],  # noqa: B006 (typer copies defaults)
    special_tokens_last: SpecialsLast = False,
    bos_token: BosToken = None,
    eos_token: EosToken = None,
    pad_token: PadToken = None,
    unk_token: UnkToken = None,
    fuse_unk: FuseUnk = False,
    byte_fallback: ByteFallback = False,
    end_of_word_suffix: Suffix = None,
    continuing_subword_prefix: Prefix = None,
    initial_alphabet: InitialAlphabet = None,
    limit_alphabet: LimitAlphabet = None,
    min_frequency: MinFrequency = 2,
    max_token_length: MaxTokenLength = None,
    within_scripts: WithinScripts = False,
    max_digits: MaxDigits = None,
    protected: Protected = [],  # noqa: B006
    segmenter: SegmenterName = None,
    pad_to_multiple_of: PadToMultipleOf = None,
    text_column: TextColumn = "text",
    skip_bad_rows: SkipBadRows = True,
    max_memory: MaxMemory = None,
    temporary_directory: TemporaryDirectory = None,
    max_pretoken_bytes: MaxPretokenBytes = str(MAX_PRETOKEN_BYTES),
    checkpoint_dir: CheckpointDir = None,
    checkpoint_minutes: CheckpointMinutes = 10,
    resume_from: ResumeFrom = None,
    chat_template: ChatTemplate = None,
    threads: Threads = None,
    progress: Progress = True,
    overwrite: Overwrite = False,
    report: Report = None,
    hidden_sizes: HiddenSize = [],  # noqa: B006 (typer copies defaults)
) -> None:
    """Train a tokenizer and save it as a directory that AutoTokenizer loads."""
    import hf_bpe

    started = time.monotonic()
    if from_counts:
        _check_for_counts(context)
    models = _models(hidden_sizes)
    if report is not None and not report.parent.is_dir():
        raise typer.BadParameter(f"--report: {report.parent} is no directory")
    named: dict[str, Any] = {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}
    given = {name: token for name, token in named.items() if token is not None}
    limits: dict[str, Any] = {"max_memory": max_memory, "temporary_directory": temporary_directory}
    pages = [] if report is None else [report]
    with reported_failures():
        with whole_files(pages) as beside:
            with whole_directory(out, overwrite=overwrite) as directory:
                if from_counts:
                    corpus = counts_of(sources or [], named_sources, limits, writes=report)
                else:
                    corpus = texts_of(sources or [], named_sources, writes=report, skip_bad_rows=skip_bad_rows)
                tokenizer = hf_bpe.train(
                    **corpus,
                    **limits,
                    max_pretoken_bytes=length_of(max_pretoken_bytes),
                    checkpoint_dir=checkpoint_dir,
                    checkpoint_minutes=checkpoint_minutes,
                    resume_from=resume_from,
                    skip_bad_rows=skip_bad_rows,
                    vocab_size=vocab_size,
                    weights=numbers_of("--weight", weights),
                    temperature=temperature,
                    quota=numbers_of("--quota", quotas),
                    pad_to_multiple_of=pad_to_multiple_of,
                    alphabet=alphabet,
                    split_pattern=split_pattern,
                    normalizer=normalizer,
                    pre_tokenizer=pre_tokenizer,
                    special_tokens=special_tokens,
                    special_tokens_last=special_tokens_last,
                    unk_token=unk_token,
                    fuse_unk=fuse_unk,
                    byte_fallback=byte_fallback,
                    end_of_word_suffix=end_of_word_suffix,
                    continuing_subword_prefix=continuing_subword_prefix,
                    initial_alphabet=initial_alphabet,
                    limit_alphabet=limit_alphabet,
                    min_frequency=min_frequency,
                    max_token_length=max_token_length,
                    within_scripts=within_scripts,
                    max_digits=max_digits,
                    protected=protected,
                    segmenter=segmenter,
                    text_column=text_column,
                    num_threads=threads,
                    chat_template=chat_template,
                    progress=progress,
                    **given,
                )
                tokenizer.save_pretrained(directory)
                _summarize(tokenizer, time.monotonic() - started)
            for page in pages:
                beside[page].write_bytes(tokenizer.training_report.to_html(hidden_sizes=models).encode())
        write(f"{printable(str(out))}\n")


train.__doc__ = f"{train.__doc__}\n\n\b{_EPILOG}"


def _check_for_counts(context: typer.Context) -> None:
    """Raise when an option is given that is for reading texts, also where its value is the default."""
    for name in _OF_TEXTS:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = ("--no-" if context.params[name] is False else "--") + name.replace("_", "-")
            raise typer.BadParameter(f"{option} is for texts, and with --from-counts they are counted already")


def _models(sizes: list[str]) -> dict[int, int] | None:
    """Return what `--hidden-size` says; None for nothing."""
    matches = [re.fullmatch(r"([1-9][0-9]*):([1-9][0-9]*)", size) for size in sizes]
    for size, match in zip(sizes, matches, strict=True):
        if match is None:
            raise typer.BadParameter(f"--hidden-size is SIZE:LAYERS, such as 4096:32, got {size!r}")
    return {int(match[1]): int(match[2]) for match in matches if match} or None


def _summarize(tokenizer: Any, seconds: float) -> None:
    from hf_bpe import chat

    report = tokenizer.training_report
    message(f"{len(tokenizer):,} tokens from {report.bytes:,} bytes in {seconds:.1f} s{skipped_rows(report)}")
    for source in report.sources:
        message(
            f"{printable(source.name)}: {source.share:.1%} of the training, "
            f"{source.bytes_per_token:.3f} bytes a token, uses {source.used_most:,} learned tokens most"
        )
    if tokenizer.chat_template is not None:
        ids = ", ".join(map(str, chat.stop_ids(tokenizer)))
        message(f"generation stops at {ids}; EOS is {printable(tokenizer.eos_token)}")
