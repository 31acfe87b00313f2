"""`prune`: a smaller vocabulary from a larger one, with the same tokens for all that it can still say."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from hf_bpe.corpus import Source, open_corpus
from hf_bpe.counting_report import Tally, warn_of_bad_rows
from hf_bpe.extension.arguments import check_report, check_tokenizer, listed
from hf_bpe.extension.comparing import Comparison
from hf_bpe.extension.derivations import Derivations
from hf_bpe.extension.renumbering import ids_in, without_tokens
from hf_bpe.extension.report import ExtensionReport
from hf_bpe.extension.sampling import Sample, texts_of
from hf_bpe.text_batches import Batch
from hf_bpe.tokenizer import HfBpeTokenizer
from hf_bpe.trainer_settings import check_numbers
from hf_bpe.vocabulary import Vocabulary


def prune(
    tokenizer: HfBpeTokenizer,
    source: Source = None,
    *,
    files: Sequence[str | Path] | None = None,
    vocab_size: int | None = None,
    keep: Iterable[str | int] | None = None,
    drop: Iterable[str | int] | None = None,
    report_on: Mapping[str, Iterable[str]] | None = None,
    max_lines: int | None = 200,
    text_column: str = "text",
    skip_bad_rows: bool = True,
    progress: bool = True,
) -> tuple[HfBpeTokenizer, ExtensionReport]:
    """Return a tokenizer with fewer tokens, whose ids close up in their old order.

    What encodes without a dropped token keeps its tokens: that is so by construction (see
    `hf_bpe.extension.derivations`), and checked on every token that stays. What had a dropped token falls into the
    pieces that this token was made of, or into others where these meet.

    Bytes, single characters, `unk_token`, added and special tokens and what the post-processor adds stay, with what
    merges make them of. Where the vocabulary falls back to bytes, characters may go.

    Args:
        tokenizer: The tokenizer. It is not changed.
        source: Texts, as `train` takes them. Of the tokens that no other is made of, the one that they use least is
            dropped, and its uses count for its halves, until `vocab_size` is reached. (Leaf-based pruning: Purason et
            al. 2025, "Teaching Old Tokenizers New Words".)
        files: Paths, directories and globs, as `train` takes them, instead of `source`.
        vocab_size: The number of tokens to be left with, added ones included. With `source` or `files` only.
        keep: Instead, the tokens to keep, as in the vocabulary or by id, with those that they are made of. All others
            go.
        drop: Instead, the tokens to drop, with those whose derivation goes through them.
        report_on: Texts by name, such as a language, to report on as well.
        max_lines: How many changed lines the report keeps; None for all.
        text_column: Of `source`: the column of tables and datasets.
        skip_bad_rows: Of `source`, as in `train`: bad rows of files are left out, named in the report and told by a
            warning.
        progress: Whether to show a bar on stderr.

    Returns:
        The tokenizer, and the report, whose `id_map` has the new id of each old one that stays.

    Raises:
        TypeError: Not just one of `source`, `keep` and `drop` is given, `vocab_size` without `source`, or the tokenizer
            isn't an `HfBpeTokenizer`.
        ValueError: A token isn't there or must stay, `vocab_size` is out of reach, or the source has no text.
        CorpusError: A file is damaged, or there are bad rows and no text, or bad rows with `skip_bad_rows=False`.

    Example:
        >>> small, report = prune(tokenizer, texts, vocab_size=8000)
        >>> len(small), report.id_map[50256]
        (8000, 7999)
    """
    check_tokenizer(tokenizer, "prune")
    check_report(report_on=report_on, max_lines=max_lines)
    if sum(argument is not None for argument in (source, files, keep, drop)) != 1:
        raise TypeError("prune() takes one of source, files, keep and drop")
    if (vocab_size is None) != (source is None and files is None):
        raise TypeError("prune() takes source and vocab_size together")
    if vocab_size is not None:
        check_numbers(vocab_size=vocab_size)
    pruning, sample, tally = _Pruning(tokenizer), Sample(), Tally()
    if keep is not None:
        kept = pruning.keeping(keep)
    elif drop is not None:
        kept = pruning.dropping(drop)
    else:
        assert vocab_size is not None
        corpus = open_corpus(source, files=files, text_column=text_column, skip_bad_rows=skip_bad_rows)
        uses = _uses(tokenizer, sample.watch(tally.watch(corpus.batches)), progress=progress)
        warn_of_bad_rows(tally.report)
        if not uses.any():
            raise ValueError("the source has no text to count tokens in: which of them it uses least can't be told.")
        kept = pruning.used_most(uses, vocab_size)
    pruned, id_map = pruning.result(kept)
    comparison = Comparison(tokenizer._core, pruned._core, id_map=id_map, max_lines=max_lines)
    read = tally.report
    return pruned, ExtensionReport(
        old_size=len(tokenizer),
        new_size=len(pruned),
        dropped=tuple(sorted(set(tokenizer.get_vocab().values()) - set(id_map))),
        id_map=id_map,
        languages=comparison.by_script(sample.texts),
        texts=comparison.by_name(report_on or {}),
        lines_read=comparison.read,
        lines_changed=comparison.changed,
        lines=tuple(comparison.lines),
        notes=(f"{read.texts:,} texts of the source were counted",) if read.texts else (),
        bad_rows=read.bad_rows,
        first_bad_rows=read.first_bad_rows,
    )


def _uses(tokenizer: HfBpeTokenizer, batches: Iterable[Batch], *, progress: bool) -> NDArray[np.int64]:
    """Return how often a corpus has each id."""
    counts = np.zeros(len(tokenizer), dtype=np.int64)
    with tqdm(desc="Counting tokens", unit=" texts", unit_scale=True, disable=not progress) as bar:
        for batch in batches:
            texts = list(texts_of([batch]))
            ids, _ = tokenizer._core.encode_to_numpy(texts, add_special_tokens=False)
            counts += np.bincount(ids, minlength=len(counts))
            bar.update(len(texts))
    return counts


class _Pruning:
    def __init__(self, tokenizer: HfBpeTokenizer) -> None:
        self._tokenizer = tokenizer
        self._core = tokenizer._core
        self._derivations = Derivations(self._core)
        self._vocab = self._core.get_vocab(with_added_tokens=False)
        self._added = set(tokenizer.added_tokens_decoder)
        written = ids_in(json.loads(self._core.component("post_processor") or "null"))
        settings = self._core.model_settings()
        self._prefix = settings["continuing_subword_prefix"] or ""
        fallback = settings["byte_fallback"] and all(f"<0x{byte:02X}>" in self._vocab for byte in range(256))
        stay = {
            token
            for token, token_id in self._vocab.items()
            if token_id in self._added | written
            or token == settings["unk_token"]
            or (self._is_base(token) and not (fallback and not _is_byte_token(token)))
        }
        # An added token may be made by merges too, where its flags keep it from being cut out.
        self._stay = self._derivations.closure(stay)

    def _is_base(self, token: str) -> bool:
        """Whether merging can start from a token: it is one character beside affixes, or a byte."""
        return self._derivations.is_symbol(token) or _is_byte_token(token)

    def keeping(self, tokens: Iterable[str | int]) -> set[str]:
        return self._derivations.closure(self._named(tokens, "keep")) | self._stay

    def dropping(self, tokens: Iterable[str | int]) -> set[str]:
        dropped = set(self._named(tokens, "drop"))
        must_stay = sorted(dropped & self._stay)
        if must_stay:
            raise ValueError(
                f"drop has {must_stay[0]!r}, which stays: bytes, single characters, unk_token, added tokens, what the "
                "post-processor adds, and what these are made of."
            )
        made_of: dict[str, list[str]] = defaultdict(list)
        for token in self._vocab:
            for half in self._derivations.halves(token):
                made_of[half].append(token)
        waiting = list(dropped)
        while waiting:
            for token in made_of[waiting.pop()]:
                if token not in dropped:
                    dropped.add(token)
                    waiting.append(token)
        return set(self._vocab) - (dropped - self._stay)

    def _named(self, tokens: Iterable[str | int], argument: str) -> list[str]:
        by_id = {token_id: token for token, token_id in self._vocab.items()}
        found = []
        for token in listed(tokens, argument, "tokens and ids"):
            if isinstance(token, bool) or not isinstance(token, str | int):
                raise TypeError(f"{argument} holds tokens and ids, got {type(token).__name__}")
            name = by_id.get(token) if isinstance(token, int) else token
            if name is None or name not in self._vocab:
                added = token in self._added or token in self._tokenizer.added_tokens_encoder
                reason = "is an added token: those stay" if added else "is no token of the vocabulary"
                raise ValueError(f"{argument} has {token!r}, which {reason}.")
            found.append(name)
        return found

    def used_most(self, counts: NDArray[np.int64], vocab_size: int) -> set[str]:
        uses = {token: int(counts[token_id]) for token, token_id in self._vocab.items()}
        parents: dict[str, int] = dict.fromkeys(self._vocab, 0)
        for token in self._vocab:
            for half in self._derivations.halves(token):
                parents[half] += 1
        kept = set(self._vocab)
        ids = set(self._vocab.values()) | self._added
        to_drop = len(ids) - vocab_size
        if to_drop < 0:
            raise ValueError(f"vocab_size={vocab_size} is more than the {len(ids)} tokens that there are.")
        leaves = [(uses[t], -self._vocab[t], t) for t in self._vocab if not parents[t] and t not in self._stay]
        heapq.heapify(leaves)
        for _ in range(to_drop):
            if not leaves:
                raise ValueError(
                    f"vocab_size={vocab_size} is too small: bytes, single characters and added tokens are "
                    f"{len({self._vocab[token] for token in kept} | self._added)} already."
                )
            _, _, token = heapq.heappop(leaves)
            kept.remove(token)
            for half in self._derivations.halves(token):
                uses[half] += uses[token]
                parents[half] -= 1
                if not parents[half] and half not in self._stay:
                    heapq.heappush(leaves, (uses[half], -self._vocab[half], half))
        return kept

    def result(self, kept: set[str]) -> tuple[HfBpeTokenizer, dict[int, int]]:
        ids = sorted({self._vocab[token] for token in kept} | self._added)
        id_map = {old: new for new, old in enumerate(ids)}
        old = self._tokenizer.vocabulary
        pipeline = without_tokens(json.loads(self._core.to_json()), kept, id_map, self._prefix)
        vocabulary = Vocabulary.from_json(
            pipeline, special_tokens=old.special_tokens, chat_template=old.chat_template, details=old.details
        )
        pruned = HfBpeTokenizer.from_vocabulary(vocabulary)
        self._check(pruned, kept, id_map)
        return pruned, id_map

    def _check(self, pruned: HfBpeTokenizer, kept: set[str], id_map: dict[int, int]) -> None:
        """Make sure that every token that stays is what its own text gives, if it was before."""
        texts = [self._tokenizer.decode(self._vocab[token]) for token in sorted(kept)]
        before = self._core.encode_ordinary_batch(texts)
        after = pruned._core.encode_ordinary_batch(texts)
        for text, old, new in zip(texts, before, after, strict=True):
            if all(token_id in id_map for token_id in old) and [id_map[token_id] for token_id in old] != new:
                raise AssertionError(f"pruning changed {text!r} from {old} to {new}; please report this.")


def _is_byte_token(token: str) -> bool:
    return len(token) == 6 and token.startswith("<0x") and token.endswith(">")
