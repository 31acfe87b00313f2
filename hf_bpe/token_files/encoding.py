"""A corpus in files to ids in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tqdm.auto import tqdm

from hf_bpe.documents import TOLD_BAD_ROWS, Documents, Position, open_documents
from hf_bpe.documents.reading import MAX_DOCUMENT_BYTES, DocumentBatch
from hf_bpe.fingerprinting import fingerprint
from hf_bpe.token_files.spool import Spool
from hf_bpe.token_files.targets import check_target, write_target
from hf_bpe.tokenizer import HfBpeTokenizer


@dataclass(frozen=True)
class EncodingReport:
    """What `encode_files` made.

    Attributes:
        out: The file with the ids.
        files: All files that were written.
        documents: How many documents there are.
        ids: How many ids.
        dtype: Their type: `uint16` if all ids of the tokenizer fit, else `uint32`.
        bad_rows: How many rows were left out.
        first_bad_rows: Where the first of them are, and what is wrong with them. Of this run, not of one before it.
        resumed: Whether an earlier run was gone on with.
    """

    out: Path
    files: tuple[Path, ...]
    documents: int
    ids: int
    dtype: str
    bad_rows: int
    first_bad_rows: tuple[str, ...]
    resumed: bool

    def __str__(self) -> str:
        text = f"{self.out}: {self.ids:,} ids of {self.documents:,} documents, {self.dtype}"
        if self.resumed:
            text += ", gone on with where it had stopped"
        if self.bad_rows:
            text += f"; {self.bad_rows:,} bad rows left out"
        return "\n".join([text, *self.first_bad_rows])


def encode_files(
    tokenizer: HfBpeTokenizer,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    text_column: str = "text",
    documents: Literal["lines", "files"] = "lines",
    add_special_tokens: bool = True,
    append_eos: bool = False,
    skip_bad_rows: bool = False,
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
    restart: bool = False,
    checkpoint_seconds: float = 30.0,
    progress: bool | None = None,
) -> EncodingReport:
    """Encode files that may be larger than memory to one file of ids, on all cores.

    A run that was stopped, by Ctrl-C or kill -9 at any moment, is gone on with by the same call, and makes the same
    file as one that was not. Until it is whole, it lies in a folder `.NAME.encoding` beside `out`.

    Args:
        tokenizer: What to encode with.
        files: See `hf_bpe.documents.open_documents`: text, JSON lines, Parquet, Arrow; gzip and zstd.
        out: `*.bin` for the bare ids, `*.npy`, or `*.parquet`. The first two have the bounds of documents beside them,
            in `*.bounds.npy`; all have what they were made from in `*.json`. A file that is there is replaced.
        text_column: The column, or key, with the text.
        documents: Whether each line of a text file is a document, or each file.
        add_special_tokens: Whether the post-processor adds its special tokens, such as BOS.
        append_eos: Whether EOS comes after each document, whatever the post-processor does.
        skip_bad_rows: Whether bad rows are left out and counted, not an error. Unlike in training they are an error by
            default: each that is left out moves the index of every document behind it.
        max_document_bytes: What a line may have at most.
        restart: Whether an earlier run is thrown away, not gone on with.
        checkpoint_seconds: How much work a stop may cost.
        progress: Whether to show a bar on stderr; by default on a terminal.

    Returns:
        What was made.

    Raises:
        CorpusError: A file or a row is bad, or an earlier run had other settings.
        TypeError: The tokenizer isn't an `HfBpeTokenizer`, or `files` is one path.
        ValueError: `append_eos` without an EOS token, or an argument is out of range.

    Example:
        >>> encode_files(tokenizer, ["corpus/*.jsonl.zst"], "tokens.bin", append_eos=True)
        >>> ids = np.memmap("tokens.bin", np.uint16)
    """
    target = Path(out)
    check_arguments(tokenizer, target, append_eos=append_eos, who="encode_files() takes an HfBpeTokenizer first")
    if checkpoint_seconds < 0:
        raise ValueError(f"checkpoint_seconds must not be negative, got {checkpoint_seconds}.")
    corpus = open_documents(
        files,
        text_column=text_column,
        documents=documents,
        max_document_bytes=max_document_bytes,
        skip_bad_rows=skip_bad_rows,
    )
    dtype = dtype_of(tokenizer)
    settings = settings_of(tokenizer, corpus, add_special_tokens=add_special_tokens, append_eos=append_eos)
    first_bad: list[str] = []
    with Spool(target, dtype, settings, restart=restart, seconds=checkpoint_seconds) as spool:
        for batch in _with_bar(corpus, spool.position, progress):
            ids, bounds = tokenizer.encode_to_numpy(batch.texts, add_special_tokens=add_special_tokens)
            if append_eos:
                ids, bounds = with_eos(ids, bounds, int(tokenizer.eos_token_id))
            spool.append(ids, bounds, batch.end, len(batch.bad_rows))
            first_bad += [row.told for row in batch.bad_rows[: TOLD_BAD_ROWS - len(first_bad)]]
        report = EncodingReport(
            target, (), spool.documents, spool.ids, dtype.name, spool.bad_rows, tuple(first_bad), spool.resumed
        )
        details = {
            "documents": spool.documents,
            "ids": spool.ids,
            "dtype": dtype.name,
            "bad_rows": spool.bad_rows,
        } | settings
        written = write_target(target, *spool.finished(), dtype, details)
        spool.remove()
    return EncodingReport(**(_fields(report) | {"files": tuple(written)}))


def check_arguments(tokenizer: object, target: Path, *, append_eos: bool, who: str) -> None:
    """Raise unless a tokenizer can encode to a target.

    Raises:
        CorpusError: The target has another suffix, or can't be there.
        TypeError: It isn't an `HfBpeTokenizer`.
        ValueError: `append_eos` without an EOS token.
    """
    if not isinstance(tokenizer, HfBpeTokenizer):
        raise TypeError(f"{who}, got {type(tokenizer).__name__}")
    check_target(target)
    if append_eos and tokenizer.eos_token_id is None:
        raise ValueError("append_eos needs a tokenizer with an eos_token, and this one has none.")


def dtype_of(tokenizer: HfBpeTokenizer) -> np.dtype[Any]:
    """Return the type that the ids of a tokenizer have in files."""
    return np.dtype("<u2" if len(tokenizer) <= 1 << 16 else "<u4")


def settings_of(
    tokenizer: HfBpeTokenizer, corpus: Documents, *, add_special_tokens: bool, append_eos: bool
) -> dict[str, Any]:
    """Return all that decides ids and their order, as JSON can hold it."""
    return {
        "files": [[str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in corpus.files],
        "tokenizer": fingerprint(tokenizer),
        "text_column": corpus.text_column,
        "documents_are": corpus.documents,
        "add_special_tokens": add_special_tokens,
        "append_eos": append_eos,
        "skip_bad_rows": corpus.skip_bad_rows,
    }


def _fields(report: EncodingReport) -> dict[str, Any]:
    return asdict(report)


def _with_bar(corpus: Documents, start: Position, progress: bool | None) -> Any:
    disable = None if progress is None else not progress
    done = sum(path.stat().st_size for path in corpus.files[: start.file])
    with tqdm(
        total=corpus.total_bytes, initial=done, unit="B", unit_scale=True, desc="Encoding", disable=disable
    ) as bar:
        batch: DocumentBatch
        for batch in corpus.batches(start):
            yield batch
            bar.update(batch.bytes_read - bar.n)


def with_eos(ids: Any, bounds: Any, eos: int) -> tuple[Any, Any]:
    """Put EOS after each document."""
    return np.insert(ids, bounds[1:].astype(np.int64), eos), bounds + np.arange(len(bounds), dtype=bounds.dtype)
