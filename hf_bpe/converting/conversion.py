"""`convert`: read, write, read back, verify, put into place."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from hf_bpe import formats
from hf_bpe.converting import checks, report, staging, targets
from hf_bpe.converting.report import Conversion
from hf_bpe.errors import ConversionError
from hf_bpe.fingerprinting import fingerprint
from hf_bpe.formats import arguments
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.verification.sides import library
from hf_bpe.vocabulary import Vocabulary

Options = Mapping[str, Any]
_IN_MEMORY = "memory"


@dataclass(frozen=True)
class _Source:
    """What is converted. `path` is None where it comes from no file."""

    name: str
    format: str
    path: Path | None
    vocabulary: Vocabulary


def convert(
    source: str | PathLike[str] | HfBpeTokenizer | Vocabulary,
    destination: str | PathLike[str],
    *,
    source_format: str | None = None,
    destination_format: str | None = None,
    overwrite: bool = False,
    texts: Iterable[str] | None = None,
    read_options: Options | None = None,
    write_options: Options | None = None,
    sample: int | None = None,
    progress: bool | None = None,
) -> Conversion:
    """Convert a tokenizer from one format to another, and verify that ids and decoded text stay what they are.

    What is written is read back and compared with what was read, and both are compared with the formats' own libraries
    where these are installed. Only then it is put into place. What was verified is left in conversion.json: in the
    directory that is written, or beside the file.

    Args:
        source: A file or directory of any format, a tokenizer, or a vocabulary.
        destination: The file or the directory to write.
        source_format: The format of `source`; by default it is found by its content.
        destination_format: The format to write; by default the name of `destination` says it: `*.gguf`, `tekken.json`,
            `*.tiktoken`, `*.model`, and otherwise a directory with a tokenizer.json.
        overwrite: Whether an existing destination is replaced. In a directory, files of others stay.
        texts: Texts to verify on as well.
        read_options: Arguments of the format's reader, such as `split_pattern` and `special_tokens` for ranks.
        write_options: Arguments of the format's writer.
        sample: How many tokens, splits and pairs are verified at most; all by default.
        progress: Whether to show a bar on stderr; by default on a terminal.

    Returns:
        What was done and verified. Prints as lines of text.

    Raises:
        ConversionError: The source is damaged, the destination exists, the format can't hold the vocabulary, or ids
            differ. Nothing is left then, and nothing that was there is changed.

    Example:
        >>> print(hf_bpe.convert("cl100k_base.tiktoken", "cl100k"))
        cl100k_base.tiktoken (tiktoken) -> cl100k (tokenizer_json)
    """
    destination = arguments.a_path(destination, "destination")
    options = arguments.some_options(write_options, "write_options", "{'stock': True}")
    sample = arguments.a_sample(sample)
    staging.check_free(destination, overwrite=overwrite)
    texts = arguments.some_texts(texts, "texts")
    texts = None if texts is None else list(texts)
    example = "{'split_pattern': 'llama3'}"
    read = _read(source, source_format, arguments.some_options(read_options, "read_options", example))
    target = targets.target_of(destination, destination_format, read.vocabulary, overwrite=overwrite)
    place = report.name_for(destination, is_directory=target.is_directory)
    verify = checks.Checks(texts=texts, sample=sample, progress=progress)
    if read.path is not None:
        verify.source(read.format, read.path, read.vocabulary)
    with staging.staged(destination, overwrite=overwrite) as folder:
        written = folder / destination.name
        with _writing(destination):
            files = targets.write(read.vocabulary, written, target, options)
        left_out = verify.written(target.format, written, read.vocabulary, options)
        done = Conversion(
            read.name,
            read.format,
            destination,
            target.format,
            place,
            verify.done,
            verify.not_done,
            fingerprint(read.vocabulary),
            len(read.vocabulary),
            read.vocabulary.holes(),
            read.vocabulary.doubles(),
            left_out,
        )
        with _writing(destination):
            report.write(done, files, written, folder / place.relative_to(destination.parent), library("hf_bpe"))
    return done


@contextmanager
def _writing(destination: Path) -> Iterator[None]:
    """Name the destination where the system refuses to write: a full disk doesn't say what for."""
    try:
        yield
    except OSError as error:
        raise ConversionError(f"{destination} can't be written: {error.strerror or error}.") from error


def _read(source: str | PathLike[str] | HfBpeTokenizer | Vocabulary, name: str | None, options: Options) -> _Source:
    if isinstance(source, HfBpeTokenizer | Vocabulary):
        if name is not None or options:
            raise TypeError("source_format and read_options are for files.")
        vocabulary = source if isinstance(source, Vocabulary) else source.vocabulary
        return _Source("a tokenizer", _IN_MEMORY, None, vocabulary)
    path = arguments.a_path(source, "source")
    name = name or formats.detect(path)
    reader = formats.get(name).read
    accepted = [key for key in inspect.signature(reader).parameters if key != "path"]
    for option in options:
        if option not in accepted:
            names = ", ".join(map(repr, accepted)) or "none"
            raise ConversionError(f"{path} is read as {name!r}, which has no option {option!r}; it has {names}.")
    return _Source(str(source), name, path, reader(path, **options))
