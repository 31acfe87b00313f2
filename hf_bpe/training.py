"""Training: from a corpus to a tokenizer.

The corpus is read once, batch by batch. The native core counts its pretokens on all threads and learns merges
from the counts: the very merges that the stock `BpeTrainer` learns, whatever the batches and threads are. Counts
have 64 bits; stock's have 32, and from 2^31 occurrences of a pair on, stock's merges are wrong and ours are not.
Where stock draws lots (characters at the cut of `limit_alphabet`, ids of symbols with an affix), order is by code
point.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken
from tqdm.auto import tqdm

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe._native import Counter, Tokenizer
from hf_bpe.character_pipeline import CharacterOptions
from hf_bpe.corpus import Corpus, Source, open_corpus
from hf_bpe.counting import CountingReport, count_corpus, counter_of, warn_of_cuts
from hf_bpe.errors import CountsError, TrainingError
from hf_bpe.limits import MAX_PRETOKEN_BYTES, CountingLimits
from hf_bpe.pretoken_counts import CountSettings, PretokenCounts
from hf_bpe.pretoken_counts.resuming import CHECKPOINT_MINUTES, Checkpoints
from hf_bpe.special_tokens import to_flags
from hf_bpe.trainer_settings import TrainerSettings
from hf_bpe.vocabulary_growth import VocabularyGrowth

if TYPE_CHECKING:
    from hf_bpe.tokenizer import HfBpeTokenizer


@dataclass(frozen=True)
class TrainingReport:
    """What a training saw and made.

    Attributes:
        texts: How many texts were read.
        null_rows: How many rows were null, and skipped.
        bad_rows: How many rows held no text, and were skipped as asked.
        bytes: How many bytes the texts have.
        cut_pretokens: How many pretokens were longer than `max_pretoken_bytes`, and counted in parts.
        spilled_bytes: How many bytes of counts went to temporary files.
        distinct_pretokens: How many different pretokens they were cut into.
        merges: How many merges were learned.
        vocab_size: How many tokens there are.
        shortfall: Why there are fewer or more tokens than asked for; None when there are just as many.
        growth: How many tokens the corpus takes with smaller vocabularies.
    """

    texts: int = 0
    null_rows: int = 0
    bytes: int = 0
    distinct_pretokens: int = 0
    merges: int = 0
    vocab_size: int = 0
    shortfall: str | None = None
    bad_rows: int = 0
    cut_pretokens: int = 0
    spilled_bytes: int = 0
    growth: VocabularyGrowth | None = field(default=None, repr=False)

    def to_html(self, *, hidden_sizes: Mapping[int, int] | None = None) -> str:
        """Return a page that tells how large the vocabulary should be: see `hf_bpe.measure.vocabulary_sizes`."""
        from hf_bpe.measure.vocabulary_sizes import page_of_training

        return page_of_training(self, hidden_sizes=hidden_sizes)


def train(
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    vocab_size: int,
    alphabet: str = "bytes",
    split_pattern: str | None = None,
    normalizer: object = None,
    pre_tokenizer: object = None,
    decoder: object = None,
    special_tokens: Iterable[str | AddedToken] = (),
    special_tokens_last: bool = False,
    unk_token: str | AddedToken | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    end_of_word_suffix: str | None = None,
    continuing_subword_prefix: str | None = None,
    initial_alphabet: Iterable[str] | None = None,
    limit_alphabet: int | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    text_column: str = "text",
    num_threads: int | None = None,
    progress: bool = True,
    max_memory: int | str | None = None,
    temporary_directory: str | Path | None = None,
    max_pretoken_bytes: int | None = MAX_PRETOKEN_BYTES,
    skip_bad_rows: bool = False,
    checkpoint_dir: str | Path | None = None,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
    resume_from: str | Path | None = None,
    chat_template: str | dict[str, str] | None = None,
    **settings: Any,
) -> HfBpeTokenizer:
    """Train a BPE tokenizer, of bytes or of characters.

    The vocabulary has `vocab_size` tokens, or training raises, or it warns why there are fewer: when a small corpus
    has no pair left that occurs `min_frequency` times. `tokenizer.training_report` says what was read and made.

    A vocabulary of characters knows those of its corpus. What an unknown one becomes is to be chosen: its bytes
    (`byte_fallback`), an `unk_token`, or, without either, nothing.

    Args:
        source: The texts: a str, an iterable of str or of lists of str, a `pathlib.Path`, a `datasets` dataset
            or stream, an Arrow table or column. It is read once; rows that are null are skipped. Or `PretokenCounts`,
            whose settings stand for `split_pattern`, `pre_tokenizer`, `normalizer` and `max_pretoken_bytes`.
        files: Paths, directories and globs, instead of `source`. `*.jsonl`, `*.ndjson` and `*.json` are JSON lines,
            `*.parquet` and `*.arrow` are tables, and their rows are texts; all others are text in UTF-8, and each line,
            with its `\\n`, is one. All but tables may be compressed (`.gz`, `.zst`, `.bz2`, `.xz`).
        vocab_size: The number of tokens, special tokens and 256 bytes included.
        alphabet: `"bytes"` or `"characters"`: what words are cut into.
        split_pattern: `"llama3"` (the default for bytes), `"gpt2"`, `"cl100k"`, `"o200k"`, `"qwen2"`, or any regex.
            Merges stay inside the pieces that it cuts.
        normalizer: `"NFC"` or another name, JSON, or a normalizer of `tokenizers`. None keeps texts as they are.
        pre_tokenizer: For characters, instead of `split_pattern`: a name, JSON, or a pre-tokenizer of `tokenizers`.
            By default `Metaspace`, which writes spaces as `▁` as SentencePiece does, and puts one before the first
            word; with an affix, `WhitespaceSplit`.
        decoder: For characters: a name, JSON, or a decoder of `tokenizers`. By default the one that undoes the
            pre-tokenizer and the affix.
        special_tokens: Tokens such as `"<|endoftext|>"`, in the order of their ids. They don't split the corpus.
        special_tokens_last: Whether they get the last ids, not the first. One that training makes as an ordinary
            token keeps the id that it got there.
        unk_token: The special token for what the vocabulary can't spell.
        fuse_unk: For characters: whether unknown characters in a row become one `unk_token`.
        byte_fallback: For characters: whether `<0x00>` to `<0xFF>` follow the special tokens, and spell any other
            character. No merge makes one of them.
        end_of_word_suffix: For characters: what the last character of a word carries, such as `"</w>"`.
        continuing_subword_prefix: For characters: what each but the first carries, such as `"##"`.
        initial_alphabet: For characters: those that are tokens whether or not the corpus has them.
        limit_alphabet: For characters: how many to keep; the most frequent, of equals those of lowest code points.
        min_frequency: How often a pair has to occur to be merged.
        max_token_length: If given, merges of merged tokens are shorter than this, in bytes or characters.
        text_column: The column to read of tables and datasets.
        num_threads: How many threads count; by default all cores, within `RAYON_NUM_THREADS`.
        progress: Whether to show a bar on stderr.
        max_memory: How much memory the table of distinct pretokens takes: bytes, or a text such as `"8MB"`. By default
            a quarter of the machine's. What doesn't fit goes to temporary files, and is merged exactly. Learning merges
            takes what it needs: about nine bytes for each byte of distinct pretokens.
        temporary_directory: Where those files are made, without names; by default where the system has them.
        max_pretoken_bytes: The length from which a pretoken is cut between characters, and its parts are counted, with
            a warning; None for none. Where nothing was cut, merges are those of the stock trainer.
        skip_bad_rows: Whether rows of files that hold no text are left out and counted, not an error.
        checkpoint_dir: A folder for checkpoints of counting, from which a run can go on after a stop of any kind, and
            makes the same vocabulary; the last two are kept. By default none are written, or to `resume_from`.
        checkpoint_minutes: How often one is written.
        resume_from: A folder of checkpoints to go on from; when it is `checkpoint_dir` as well and there is none in it,
            the corpus is read from its beginning. Source and settings have to be those of the stopped run.
        chat_template: `"chatml"`, `"llama3"`, `"llama3.1"`, `"qwen2.5"`, `"qwen3"` or another name of
            `hf_bpe.chat.templates.NAMES`: the tokens of this format follow the special tokens, and
            `hf_bpe.chat.install` does the rest. EOS becomes the format's; one named here stays among the stop ids. Or
            the text of any Jinja template, which is kept.
        **settings: Arguments of `HfBpeTokenizer`, such as `eos_token="<|endoftext|>"` or `model_max_length`. Named
            special tokens follow `special_tokens` where they aren't among them.

    Returns:
        The tokenizer.

    Raises:
        TrainingError: `vocab_size` has no room for the special tokens and the bytes, or the characters of the corpus.
        TypeError: `source` is of no accepted type.
        ValueError: An argument is out of its range or contradicts another one, a file isn't UTF-8, or there is no
            such column or chat template.
        SplitPatternError: `split_pattern` is no valid regex, or ran away on a text.
        CountsError: The checkpoints can't be gone on from, or would be written over.

    Example:
        >>> tokenizer = train(["a text", "another text"], vocab_size=260, progress=False)
        >>> len(tokenizer)
        260
        >>> tokenizer = train(["low lower"], vocab_size=9, alphabet="characters", progress=False)
        >>> tokenizer.tokenize("lower low")
        ['▁low', 'e', 'r', '▁low']
    """
    from hf_bpe.tokenizer import HfBpeTokenizer

    if alphabet not in ("bytes", "characters"):
        raise ValueError(f"alphabet is 'bytes' or 'characters', got {alphabet!r}")
    checks.check_numbers(num_threads=num_threads)
    if unk_token is not None:
        settings["unk_token"] = unk_token
    chat_format = chat_template if isinstance(chat_template, str) and "{" not in chat_template else None
    if chat_format is None and chat_template is not None:
        settings["chat_template"] = chat_template
    specials = _special_tokens(special_tokens, settings)
    if chat_format is not None:
        specials = _with_chat_tokens(specials, chat_format, has_bos=settings.get("bos_token") is not None)
    options = CharacterOptions(
        split_pattern=split_pattern,
        pre_tokenizer=pre_tokenizer,
        decoder=decoder,
        unk_token=None if unk_token is None else str(unk_token),
        fuse_unk=fuse_unk,
        byte_fallback=byte_fallback,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        initial_alphabet=checks.characters_of(initial_alphabet),
        limit_alphabet=limit_alphabet,
    )
    trainer = TrainerSettings(
        vocab_size=vocab_size,
        special_tokens=[token["content"] for token in specials],
        special_tokens_last=special_tokens_last,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        characters=alphabet == "characters",
        initial_alphabet=options.initial_alphabet,
        limit_alphabet=limit_alphabet,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        reserved_tokens=checks.BYTE_TOKENS if byte_fallback else (),
    )
    limits = CountingLimits.of(
        max_memory=max_memory, temporary_directory=temporary_directory, max_pretoken_bytes=max_pretoken_bytes
    )
    checkpoints = Checkpoints.of(checkpoint_dir, checkpoint_minutes, resume_from)
    counts = source if isinstance(source, PretokenCounts) and files is None else None
    if counts is not None:
        _check_alphabet(counts, alphabet)
    if trainer.characters:
        if counts is not None and split_pattern is None and pre_tokenizer is None:
            options = replace(options, pre_tokenizer=counts.settings.pre_tokenizer)
        options.check()
        pipeline = options.pipeline(normalizer)
    else:
        options.check_for_bytes()
        pipeline = pipeline_json.byte_level_pipeline("llama3" if split_pattern is None else split_pattern, normalizer)
    if counts is not None:
        pipeline = _pipeline_of_counts(pipeline, counts.settings, split_pattern or pre_tokenizer, normalizer)
    trainer.check_room()
    counter = counter_of(pipeline, num_threads, who="train()", limits=limits)
    corpus: Corpus | PretokenCounts
    if counts is not None:
        corpus = counts
    else:
        corpus = open_corpus(source, files=files, text_column=text_column, skip_bad_rows=skip_bad_rows)
    if checkpoints is not None:
        corpus = _with_checkpoints(pipeline, num_threads, corpus, checkpoints, limits, progress=progress)
    trained, report = train_pipeline(pipeline, counter, corpus, trainer, specials, progress=progress)
    tokenizer = HfBpeTokenizer(tokenizer_object=Tokenizer.from_json(json.dumps(trained)), **settings)
    tokenizer.training_report = report
    if chat_format is not None:
        from hf_bpe import chat

        chat.install(tokenizer, chat_format)
    return tokenizer


def train_pipeline(
    pipeline: pipeline_json.Json,
    counter: Counter,
    corpus: Corpus | PretokenCounts,
    trainer: TrainerSettings,
    specials: list[pipeline_json.Json],
    *,
    progress: bool,
    length: int | None = None,
    renamed: Mapping[str, str] | None = None,
    may_exceed: bool = False,
) -> tuple[pipeline_json.Json, TrainingReport]:
    """Read a corpus and return `pipeline` with the vocabulary that it gives, and what was read and made.

    Args:
        pipeline: The JSON around the vocabulary.
        counter: A counter of its pretokens.
        corpus: The texts, or counts that the same pipeline made.
        trainer: What to learn.
        specials: The special tokens, as in `tokenizer.json` but without ids.
        progress: Whether to show a bar on stderr.
        length: The number of texts, for the bar.
        renamed: New names for special tokens that the pipeline speaks of, by their old names.
        may_exceed: Whether characters that are more than the tokens asked for are a warning, not an error.
    """
    read = _count(counter, corpus, progress=progress, length=length)
    distinct = len(counter)
    vocab, merges = _learn(counter, trainer, progress=progress)
    shortfall = _shortfall(len(vocab), trainer)
    report = TrainingReport(
        **asdict(read),
        spilled_bytes=counter.spilled_bytes,
        distinct_pretokens=distinct,
        merges=len(merges),
        vocab_size=len(vocab),
        shortfall=shortfall,
        growth=VocabularyGrowth.of(*counter.growth(), len(vocab)),
    )
    if trainer.characters and not may_exceed and len(vocab) > trainer.vocab_size:
        raise TrainingError(
            f"vocab_size={trainer.vocab_size} is too small: special tokens and the characters of the corpus take "
            f"{len(vocab)}. Use a larger vocab_size, or limit_alphabet to keep the most frequent characters."
        )
    if shortfall is not None:
        warnings.warn(shortfall, stacklevel=3)
    affixes = {
        "continuing_subword_prefix": trainer.continuing_subword_prefix,
        "end_of_word_suffix": trainer.end_of_word_suffix,
    }
    return pipeline_json.with_vocabulary(pipeline, vocab, merges, specials, renamed, affixes), report


def _count(counter: Counter, corpus: Corpus | PretokenCounts, *, progress: bool, length: int | None) -> CountingReport:
    if isinstance(corpus, PretokenCounts):
        counter.count_sorted(corpus._counts)
        return corpus.report
    read = count_corpus(counter, corpus, progress=progress, length=length)
    warn_of_cuts(read.cut_pretokens, counter.max_pretoken_bytes, stacklevel=4)
    return read


def _with_checkpoints(
    pipeline: pipeline_json.Json,
    num_threads: int | None,
    corpus: Corpus | PretokenCounts,
    checkpoints: Checkpoints,
    limits: CountingLimits,
    *,
    progress: bool,
) -> PretokenCounts:
    """Return what a corpus counts to, with a checkpoint every few minutes."""
    if isinstance(corpus, PretokenCounts):
        raise ValueError("checkpoint_dir and resume_from are for counting, and these counts are made already")

    def make_counter(limits: CountingLimits) -> Counter:
        return counter_of(pipeline, num_threads, who="train()", limits=limits)

    settings = CountSettings.of_pipeline(pipeline, limits.max_pretoken_bytes)
    counts = PretokenCounts._counted(
        make_counter, corpus, checkpoints, settings=settings, limits=limits, progress=progress
    )
    warn_of_cuts(counts.report.cut_pretokens, limits.max_pretoken_bytes, stacklevel=3)
    return counts


def _check_alphabet(counts: PretokenCounts, alphabet: str) -> None:
    counted = "bytes" if counts.settings.bytes else "characters"
    if counted != alphabet:
        raise CountsError(f"the counts are for alphabet={counted!r}, and alphabet={alphabet!r} is asked for")


def _pipeline_of_counts(
    pipeline: pipeline_json.Json, settings: CountSettings, cut: object, normalizer: object
) -> pipeline_json.Json:
    """Return `pipeline` with the settings of counts, which stand for those that weren't given.

    Raises:
        CountsError: A setting that was given is another one.
    """
    made = pipeline | {"pre_tokenizer": settings.pre_tokenizer, "normalizer": settings.normalizer}
    given = {"pre_tokenizer": cut, "normalizer": normalizer}
    asked = made | {name: pipeline[name] for name, value in given.items() if value is not None}
    wanted = CountSettings.of_pipeline(asked, settings.max_pretoken_bytes)
    settings.check_same(wanted, what="counts and what is asked for don't go together")
    return made


def _learn(counter: Counter, trainer: TrainerSettings, *, progress: bool) -> tuple[list[str], list[tuple[str, str]]]:
    """Learn with a bar whose total is the number of merges to come, which depends on the first tokens."""
    with merging_bar(progress=progress) as show:
        vocab, merges = counter.learn(**trainer.arguments(), keep=False, progress=show)
        show(len(merges), len(merges) + max(0, trainer.vocab_size - len(vocab)))
    return vocab, merges


@contextmanager
def merging_bar(*, progress: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, moved by the number of merges so far and how many it may become."""
    with tqdm(desc="Merging", unit=" merges", disable=not progress) as bar:

        def show(merges: int, expected: int) -> None:
            if bar.total != expected:
                bar.reset(expected)
            bar.update(merges - bar.n)

        yield show


def _shortfall(made: int, trainer: TrainerSettings) -> str | None:
    asked = trainer.vocab_size
    if made < asked:
        return (
            f"the vocabulary has {made} tokens, not the {asked} asked for: no pair is left that occurs at least "
            f"{max(1, trainer.min_frequency)} times and may be merged. Use more text or a lower min_frequency."
        )
    if made > asked:
        alphabet = "the characters of the corpus" if trainer.characters else "the 256 bytes"
        return (
            f"the vocabulary has {made} tokens, not the {asked} asked for: special tokens and {alphabet} "
            "alone are as many."
        )
    return None


def _special_tokens(
    special_tokens: Iterable[str | AddedToken], settings: Mapping[str, Any]
) -> list[pipeline_json.Json]:
    """Return the special tokens as JSON, once each: those given, then those that settings name."""
    if isinstance(special_tokens, str | AddedToken):
        raise TypeError(f"special_tokens is a list of tokens; write [{str(special_tokens)!r}]")
    given = [added_token_json(token) for token in special_tokens]
    named = _named_tokens(settings)
    contents = {token["content"] for token in given}
    tokens = given + [flags for flags in map(added_token_json, named) if flags["content"] not in contents]
    for token in tokens:
        if not token["content"]:
            raise ValueError("a special token is empty")
        checks.check_text("the special token", token["content"])
    return tokens


def _with_chat_tokens(specials: list[pipeline_json.Json], name: str, *, has_bos: bool) -> list[pipeline_json.Json]:
    """Return the special tokens, and those that a chat format needs beside them.

    They are part of the training, so that `vocab_size` counts them and no merge makes one of them.
    """
    from hf_bpe.chat.families import family
    from hf_bpe.chat.installing import check_known

    known = {token["content"]: token for token in specials}
    tokens = list(specials)
    for needed in family(name).tokens(has_bos=has_bos):
        if needed.content in known:
            check_known(needed, AddedToken(**known[needed.content]))
        else:
            tokens.append(added_token_json(needed, special=needed.special))
    return tokens


def _named_tokens(settings: Mapping[str, Any]) -> list[str | AddedToken]:
    """Return the special tokens that `settings` name, in any of the ways that `transformers` knows.

    They are those of a tokenizer made with these settings, which also finds wrong settings before the corpus is read.
    """
    from hf_bpe.tokenizer import HfBpeTokenizer

    empty = Tokenizer.from_json(json.dumps(pipeline_json.byte_level_pipeline("gpt2")))
    tokenizer = HfBpeTokenizer(tokenizer_object=empty, **settings)
    named = [token for token in tokenizer._special_tokens_map.values() if token is not None]
    return [*named, *tokenizer._extra_special_tokens]


def added_token_json(token: str | AddedToken, *, special: bool = True) -> pipeline_json.Json:
    """Return an added token as `tokenizer.json` writes it, without an id."""
    content, special, normalized, single_word, lstrip, rstrip = to_flags(token, special=special)
    return {
        "content": content,
        "single_word": single_word,
        "lstrip": lstrip,
        "rstrip": rstrip,
        "normalized": normalized,
        "special": special,
    }
