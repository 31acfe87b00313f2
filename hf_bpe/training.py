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
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken
from tqdm.auto import tqdm

from hf_bpe import pipeline_json
from hf_bpe import trainer_settings as checks
from hf_bpe._native import Counter, Tokenizer, learn_from_sources
from hf_bpe.character_pipeline import CharacterOptions
from hf_bpe.corpus import Corpus, Source, open_corpus
from hf_bpe.counting import CountingReport, count_corpus, counter_of, warn_of_cuts
from hf_bpe.errors import CountsError, TrainingError
from hf_bpe.limits import MAX_PRETOKEN_BYTES, CountingLimits
from hf_bpe.pretoken_counts import CountSettings, PretokenCounts
from hf_bpe.pretoken_counts.resuming import CHECKPOINT_MINUTES, Checkpoints
from hf_bpe.segmenting import Segmenter, cut_at_words, segmenter_of
from hf_bpe.special_tokens import to_flags
from hf_bpe.trainer_settings import TrainerSettings
from hf_bpe.training_sources import Balance, CountedSource, SourceReport
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
        sources: What each source gave and got, where there are several.
        used_most_by: For each learned token, the source that used it most when it was made, weights applied; of equals
            the first.
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
    sources: tuple[SourceReport, ...] = ()
    used_most_by: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    growth: VocabularyGrowth | None = field(default=None, repr=False)

    def to_html(self, *, hidden_sizes: Mapping[int, int] | None = None) -> str:
        """Return a page that tells how large the vocabulary should be: see `hf_bpe.measure.vocabulary_sizes`."""
        from hf_bpe.measure.vocabulary_sizes import page_of_training

        return page_of_training(self, hidden_sizes=hidden_sizes)


def train(
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    sources: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    temperature: float | None = None,
    quota: Mapping[str, float] | None = None,
    vocab_size: int,
    pad_to_multiple_of: int | None = None,
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
    within_scripts: bool = False,
    max_digits: int | None = None,
    protected: Iterable[str] = (),
    segmenter: Segmenter | None = None,
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
        sources: Several sources by name, instead of `source`: each anything that `source` may be, or a list of
            `pathlib.Path` to read as `files`. The report then says what each got. All count as they are, as one corpus
            would, unless there are `weights` or a `temperature`.
        weights: The share of the training that each source is to stand for, whatever its size, in any unit:
            `{"zh": 0.3, "en": 0.7}`. Then `min_frequency` is compared with the weighted count, where all sources
            together have the size that they have.
        temperature: Instead: each source gets the share that its bytes to the power of 1 / `temperature` have. 1 leaves
            them as they are, 2 takes the square root, and the higher, the more equal they are.
        quota: The least share of the learned tokens that a source is to use most, such as `{"zh": 0.3}`. Merges are
            learned as ever while all quotas can be met by what is still to come; from then on, the most frequent pair
            is merged of those that a source uses most whose quota isn't met. So the least frequent tokens are given up,
            and a quota that is met anyway changes nothing. The two phases are those of the hybrid form of parity-aware
            BPE (Foroutan et al. 2025, arXiv 2508.04796; `ParityBpeTrainer` in tokenizers 0.23.3), where the source that
            compresses worst chooses its own most frequent pair; here a quota chooses, and pairs count as in all
            sources together. Where a source has no pairs left, a warning says what is missing.
        vocab_size: The number of tokens, special tokens and 256 bytes included.
        pad_to_multiple_of: If given, special tokens `<|pad_0|>`, `<|pad_1|>` ... follow all others until their number
            is a multiple of this, such as 128.
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
        within_scripts: Whether every learned token is of one script, apart from what scripts share (spaces, 0 to 9,
            punctuation, marks), and whole characters or a part of one. Japanese is one script, Han included.
        max_digits: How many digits a learned token may hold, of any script; with 0 no digit is merged with anything.
            Numbers are cut where the merges cut them: from the left, mostly.
        protected: Strings that are always one token each, in any text, and never a part of another one. They are added
            tokens behind the special ones, but not special: they are decoded as text. Training cuts the corpus at them,
            after normalizing; encoding does so before.
        segmenter: Where words begin in languages without spaces, while training only: merges never cross the borders.
            `"jieba"` for Chinese, `"icu"` for these and Japanese, Thai, Lao, Khmer and Burmese, or a callable from a
            pretoken (str) to its words (list of str) or to the offsets of borders (list of int). It is called once for
            each distinct pretoken, after normalizing. Those named leave pretokens of other scripts whole, and a space
            on the word behind it.
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
        CountsError: `PretokenCounts` were made with other settings than those asked for, or than other sources; or
            checkpoints can't be gone on from, or would be written over.
        ImportError: The `segmenter` that is named isn't installed.

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
    checks.check_numbers(num_threads=num_threads, pad_to_multiple_of=pad_to_multiple_of)
    balance = Balance(weights, temperature, quota)
    _check_sources(sources, source, files, balance)
    strings = checks.protected_strings(protected)
    cut = None if segmenter is None else segmenter_of(segmenter)
    if cut is not None and (end_of_word_suffix or continuing_subword_prefix):
        raise ValueError("segmenter has no use for an affix: a word that it cuts is no word to end or to continue")
    if unk_token is not None:
        settings["unk_token"] = unk_token
    chat_format = chat_template if isinstance(chat_template, str) and "{" not in chat_template else None
    if chat_format is None and chat_template is not None:
        settings["chat_template"] = chat_template
    specials = _special_tokens(special_tokens, settings)
    if chat_format is not None:
        specials = _with_chat_tokens(specials, chat_format, has_bos=settings.get("bos_token") is not None)
    specials += _protected_tokens(strings, specials)
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
        within_scripts=within_scripts,
        max_digits=max_digits,
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
    if checkpoints is not None and sources is not None:
        raise ValueError(
            "checkpoint_dir and resume_from are for one source: count each of several with "
            "PretokenCounts.count(checkpoint_dir=...), and give the counts as sources"
        )
    given = [source] if sources is None and files is None else list((sources or {}).values())
    counted = [part for part in given if isinstance(part, PretokenCounts)]
    counts = counted[0] if counted else None
    if counts is not None:
        if strings:
            raise ValueError("protected has to be known before texts are counted: give texts, not counts")
        for part in counted:
            _check_alphabet(part, alphabet)
            counts.settings.check_same(part.settings, what="counts of these sources don't go together")
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
    if counts is not None:
        limits = replace(limits, max_pretoken_bytes=counts.settings.max_pretoken_bytes)
    counting = pipeline_json.cut_at_strings(pipeline, strings)

    def new_counter() -> Counter:
        return counter_of(counting, num_threads, who="train()", limits=limits)

    def opened(part: Any) -> Corpus | PretokenCounts:
        if isinstance(part, PretokenCounts):
            return part
        if isinstance(part, list) and part and all(isinstance(path, Path) for path in part):
            return open_corpus(files=part, text_column=text_column, skip_bad_rows=skip_bad_rows)
        return open_corpus(part, text_column=text_column, skip_bad_rows=skip_bad_rows)

    counter = new_counter()
    if sources is not None:
        parts = [_counted(name, new_counter(), opened(part), cut, progress=progress) for name, part in sources.items()]
        trained, report = _train_sources(
            pipeline, parts, balance, trainer, specials, pad_to_multiple_of, progress=progress
        )
    else:
        corpus = counts or open_corpus(source, files=files, text_column=text_column, skip_bad_rows=skip_bad_rows)
        if checkpoints is not None:
            corpus = _with_checkpoints(counting, num_threads, corpus, checkpoints, limits, progress=progress)
        trained, report = train_pipeline(
            pipeline, counter, corpus, trainer, specials, progress=progress, cut=cut, pad=pad_to_multiple_of
        )
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
    cut: Callable[[str], list[int]] | None = None,
    pad: int | None = None,
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
        cut: What gives the borders of words in a pretoken; None for none.
        pad: A number that the vocabulary is to be a multiple of; None for any.
    """
    read = _count(counter, corpus, progress=progress, length=length)
    if cut is not None:
        cut_at_words(counter.take_sorted(), cut, counter)
    distinct = len(counter)
    vocab, merges = _learn(counter, trainer, progress=progress)
    report = TrainingReport(
        **asdict(read),
        spilled_bytes=counter.spilled_bytes,
        distinct_pretokens=distinct,
        growth=VocabularyGrowth.of(*counter.growth(), len(vocab)),
    )
    return _finished(pipeline, (vocab, merges), report, trainer, specials, renamed, may_exceed=may_exceed, pad=pad)


def _finished(
    pipeline: pipeline_json.Json,
    learned: tuple[list[str], list[tuple[str, str]]],
    report: TrainingReport,
    trainer: TrainerSettings,
    specials: list[pipeline_json.Json],
    renamed: Mapping[str, str] | None = None,
    *,
    may_exceed: bool = False,
    pad: int | None = None,
) -> tuple[pipeline_json.Json, TrainingReport]:
    """Return `pipeline` with what was learned, padded, and the report; warn or raise where the size is another."""
    vocab, merges = learned
    shortfall = _shortfall(len(vocab), trainer)
    if trainer.characters and not may_exceed and len(vocab) > trainer.vocab_size:
        raise TrainingError(
            f"vocab_size={trainer.vocab_size} is too small: special tokens and the characters of the corpus take "
            f"{len(vocab)}. Use a larger vocab_size, or limit_alphabet to keep the most frequent characters."
        )
    if shortfall is not None:
        warnings.warn(shortfall, stacklevel=4)
    padding = checks.padding_tokens(vocab, pad)
    vocab = vocab + padding
    specials = specials + [added_token_json(token) for token in padding]
    report = replace(report, merges=len(merges), vocab_size=len(vocab), shortfall=shortfall)
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


def _counted(
    name: str,
    counter: Counter,
    corpus: Corpus | PretokenCounts,
    cut: Callable[[str], list[int]] | None,
    *,
    progress: bool,
) -> CountedSource:
    """Count one source of several."""
    if isinstance(corpus, PretokenCounts):
        counts, read = corpus._counts, corpus.report
    else:
        read = count_corpus(counter, corpus, progress=progress)
        warn_of_cuts(read.cut_pretokens, counter.max_pretoken_bytes, stacklevel=4)
        counts = counter.take_sorted()
    if cut is not None:
        cut_at_words(counts, cut, counter)
        counts = counter.take_sorted()
    return CountedSource(name, counts, read, counter.spilled_bytes)


def _train_sources(
    pipeline: pipeline_json.Json,
    parts: list[CountedSource],
    balance: Balance,
    trainer: TrainerSettings,
    specials: list[pipeline_json.Json],
    pad: int | None,
    *,
    progress: bool,
) -> tuple[pipeline_json.Json, TrainingReport]:
    """Learn from counts of several sources, and say what each got."""
    names = [part.name for part in parts]
    sizes = [part.counts.corpus_bytes() for part in parts]
    multipliers, one = balance.multipliers(names, sizes)
    settings = trainer.arguments()
    settings["min_frequency"] = min(max(1, trainer.min_frequency) * one, 2**63 - 1)
    with merging_bar(progress=progress) as show:
        learned, (distinct, _, tokens, uses, missing) = learn_from_sources(
            [(part.counts, multiplier) for part, multiplier in zip(parts, multipliers, strict=True)],
            quotas=balance.native_quotas(names),
            settings=settings,
            progress=show,
        )
        show(len(learned[1]), len(learned[1]) + max(0, trainer.vocab_size - len(learned[0])))
    vocab, _ = learned
    used_most: dict[str, str] = {}
    for token, source, _ in uses:  # a token that is made once more keeps the source of its first time
        used_most.setdefault(vocab[token], names[source])
    numbers = Counts(used_most.values())
    total = sum(size * multiplier for size, multiplier in zip(sizes, multipliers, strict=True))
    quotas = balance.quotas or {}
    reports = tuple(
        SourceReport(
            name=part.name,
            texts=part.read.texts,
            bytes=sizes[at],
            share=sizes[at] * multipliers[at] / total if total else 0.0,
            tokens=tokens[at],
            used_most=numbers[part.name],
            quota=quotas.get(part.name),
            missing=missing[at],
        )
        for at, part in enumerate(parts)
    )
    for lacking in (report for report in reports if report.missing):
        warnings.warn(
            f"quota: {lacking.name!r} is to use {lacking.quota} of the learned tokens most, and {lacking.missing} are "
            "missing: no pair is left that it uses most. Give it more text or a lower quota.",
            stacklevel=3,
        )
    read = {name: sum(asdict(part.read)[name] for part in parts) for name in asdict(CountingReport())}
    report = TrainingReport(
        **read,
        spilled_bytes=sum(part.spilled_bytes for part in parts),
        distinct_pretokens=distinct,
        sources=reports,
        used_most_by=used_most,
    )
    return _finished(pipeline, learned, report, trainer, specials, pad=pad)


def _check_sources(
    sources: Mapping[str, Any] | None, source: Source, files: Sequence[str | Path] | None, balance: Balance
) -> None:
    """Raise where sources and what is said about them don't go together."""
    if sources is None:
        for name, value in vars(balance).items():
            if value is not None:
                option = "quota" if name == "quotas" else name
                raise ValueError(f"{option} is for several sources: give sources={{name: corpus}}")
        return
    if source is not None or files is not None:
        raise ValueError("sources and a source or files are both given: give one of them")
    if not isinstance(sources, Mapping):
        raise TypeError(f"sources is a dict of corpora by name, got {type(sources).__name__}")
    if not sources or not all(isinstance(name, str) for name in sources):
        raise ValueError(f"sources is a dict of at least one corpus by name, got the names {list(sources)!r}")
    balance.check(list(sources))


def _protected_tokens(strings: Sequence[str], specials: Sequence[pipeline_json.Json]) -> list[pipeline_json.Json]:
    """Return protected strings as added tokens that aren't special."""
    for token in specials:
        if token["content"] in strings:
            raise ValueError(f"{token['content']!r} is a special token and a protected string: it can be one of them")
    tokens = [AddedToken(string, special=False, normalized=False) for string in strings]
    return [added_token_json(token, special=False) for token in tokens]


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
