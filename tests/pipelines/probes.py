"""One question to both libraries over one file, and how their answers differ."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tokenizers
from parity import FIELDS

from hf_bpe._native import Tokenizer
from hf_bpe.byte_alphabet import CHAR_TO_BYTE
from pipelines import Json

# Stock panics often enough that tracing each of them would take most of the time.
os.environ["RUST_BACKTRACE"] = "0"

Input = str | tuple[str, ...]
STRATEGIES = ("longest_first", "only_first", "only_second")


class StockPanicked(Exception):
    """Stock gave up in a way that nobody can want to equal."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What to encode and how; or, where there are `ids`, what to decode."""

    text: Input = ""
    pair: Input | None = None
    add_special_tokens: bool = True
    split_special_tokens: bool = False
    truncation: tuple[int, int, str, str] | None = None
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, and both answers."""

    what: str
    ours: Any
    stock: Any


def outcome(work: Callable[[], Any]) -> Any:
    """Return what `work` returns, or the exception that it raises."""
    try:
        return work()
    except Exception as error:
        return error


def stock_outcome(work: Callable[[], Any]) -> Any:
    """Return what stock returns or raises."""
    try:
        return outcome(work)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise StockPanicked from error
        raise


def fields_of(encoding: Any) -> dict[str, Any]:
    """Return everything that an encoding says, of its windows too."""
    fields = {name: getattr(encoding, name) for name in (*FIELDS, "sequence_ids", "attention_mask")}
    return fields | {"overflowing": [fields_of(window) for window in encoding.overflowing]}


class Both:
    """A file, loaded by both libraries; `refused` is the difference where only one of them loads it."""

    def __init__(self, data: Json) -> None:
        """Load `data` twice."""
        text = json.dumps(data)
        self.ours: Any = outcome(lambda: Tokenizer.from_json(text))
        self.stock: Any = stock_outcome(lambda: tokenizers.Tokenizer.from_str(text))
        refusals = [isinstance(made, Exception) for made in (self.ours, self.stock)]
        self.loads = not any(refusals)
        self.refused = None
        if refusals == [False, True] or (refusals == [True, False] and not self._stock_panics_always()):
            self.refused = Difference("loading", self.ours, self.stock)
        if self.loads:
            self.decodes = "ByteLevel" not in json.dumps(data.get("decoder")) or not self._garbles_added_tokens()

    def _stock_panics_always(self) -> bool:
        for text in ("a", ""):  # a text may raise earlier, for want of an unk_token
            try:
                stock_outcome(lambda: self.stock.encode(text))  # noqa: B023 - called at once
            except StockPanicked:
                return True
        return False

    def _garbles_added_tokens(self) -> bool:
        """Whether stock's ByteLevel reads an added token as bytes, which hf_bpe doesn't on purpose."""
        contents = [token.content for token in self.stock.get_added_tokens_decoder().values()]
        contents += [self.stock.id_to_token(self.stock.token_to_id(content)) for content in contents]
        return any(not text.isascii() and CHAR_TO_BYTE.keys() >= set(text) for text in contents)

    def difference(self, probe: Probe) -> Difference | None:
        """Return the first way in which the answers to `probe` differ; None too where stock panics."""
        try:
            return next(self._differences(probe), None)
        except StockPanicked:
            return None

    def _differences(self, probe: Probe) -> Iterator[Difference]:
        if probe.ids is not None:
            yield from self._decoding(list(probe.ids))
            return
        expected = stock_outcome(lambda: self._stock_encoding(probe))
        got = outcome(lambda: self._our_encoding(probe))
        if isinstance(expected, Exception) or isinstance(got, Exception):
            if not isinstance(expected, Exception) or not isinstance(got, Exception):
                yield Difference("encoding", got, expected)
            return
        for name in expected:
            if got[name] != expected[name]:
                yield Difference(name, got[name], expected[name])
        if isinstance(probe.text, str) and probe.pair is None and probe.truncation is None:
            yield from self._other_calls(probe, expected["ids"])

    def _other_calls(self, probe: Probe, ids: list[int]) -> Iterator[Difference]:
        options = {
            "add_special_tokens": probe.add_special_tokens,
            "split_special_tokens": probe.split_special_tokens,
        }
        got = outcome(lambda: self.ours.encode_ids(probe.text, **options))
        if got != ids:
            yield Difference("encode_ids", got, ids)
        rows = outcome(lambda: self.ours.encode_ids_batch([probe.text, probe.text], **options))
        if rows != [ids, ids]:
            yield Difference("encode_ids_batch", rows, [ids, ids])
        yield from self._decoding(ids)

    def _decoding(self, ids: list[int]) -> Iterator[Difference]:
        for skip in (True, False) if self.decodes else ():
            expected = stock_outcome(lambda: self.stock.decode(ids, skip_special_tokens=skip))  # noqa: B023
            got = outcome(lambda: self.ours.decode(ids, skip_special_tokens=skip))  # noqa: B023
            if got != expected and not (isinstance(got, Exception) and isinstance(expected, Exception)):
                yield Difference(f"decode(skip_special_tokens={skip})", got, expected)

    def _our_encoding(self, probe: Probe) -> dict[str, Any]:
        one, two = (list(given) if isinstance(given, tuple) else given for given in (probe.text, probe.pair))
        options: dict[str, Any] = {
            "add_special_tokens": probe.add_special_tokens,
            "split_special_tokens": probe.split_special_tokens,
        }
        return fields_of(self.ours.encode(one, two, truncation=probe.truncation, **options))

    def _stock_encoding(self, probe: Probe) -> dict[str, Any]:
        self.stock.no_truncation()
        if probe.truncation is not None:
            length, stride, strategy, side = probe.truncation
            self.stock.enable_truncation(length, stride=stride, strategy=strategy, direction=side)
        self.stock.encode_special_tokens = probe.split_special_tokens
        words = isinstance(probe.text, tuple)
        one, two = (list(given) if isinstance(given, tuple) else given for given in (probe.text, probe.pair))
        encoding = self.stock.encode(one, two, add_special_tokens=probe.add_special_tokens, is_pretokenized=words)
        return fields_of(encoding)


def text_probes(texts: list[str]) -> Iterator[Probe]:
    """Yield each text alone, in turn with each pair of options."""
    for number, text in enumerate(texts):
        yield Probe(text, add_special_tokens=bool(number % 2), split_special_tokens=number % 3 == 0)


def pair_probes(
    rng: random.Random, texts: list[str], specials: Callable[[bool], int], count: int = 8
) -> Iterator[Probe]:
    """Yield pairs, lists of words and windows; `specials` tells how many special tokens join a text or a pair."""
    for _ in range(count):
        words = rng.random() < 0.3
        # Short, since a pair has as many windows as the two texts multiplied.
        cuts = [text[: 5 if words else 14] for text in rng.sample(texts, 6)]
        one, two = (tuple(cuts[:3]), tuple(cuts[3:])) if words else cuts[:2]
        pair = two if rng.random() < 0.6 else None
        cut = (rng.randrange(0, 20), rng.randrange(0, 6), rng.choice(STRATEGIES), rng.choice(("right", "left")))
        add = rng.random() < 0.6
        # Where there is no room for text, hf_bpe raises; stock wraps around or drops the text. Stock counts the special
        # tokens of a single text even where none are added.
        room = cut[0] - max(specials(False), specials(pair is not None))
        truncates = rng.random() < 0.7 and room > 0 and cut[1] < room
        yield Probe(one, pair, add_special_tokens=add, truncation=cut if truncates else None)


def id_probes(rng: random.Random, size: int, count: int = 4) -> Iterator[Probe]:
    """Yield ids that no text need give, and some that no token has."""
    for _ in range(count):
        yield Probe(ids=tuple(rng.randrange(size + 2) for _ in range(rng.randrange(0, 12))))
