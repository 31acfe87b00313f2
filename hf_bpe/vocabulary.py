"""`Vocabulary`: the immutable value between training, formats and `HfBpeTokenizer`.

A reader makes one and a writer takes one, so that six formats are six readers and six writers and not thirty
converters. Its tables lie in the native core: what Python sees are views, and nothing is copied until it is asked for.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, final

from hf_bpe import pipeline_json
from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError

Roles: TypeAlias = Mapping[str, "str | list[str]"]
Json: TypeAlias = dict[str, Any]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@final
class Vocabulary:
    """Everything that decides ids, and what a model's makers say beside it. It never changes.

    Args:
        core: What a tokenizer.json says, in native tables.
        special_tokens: The tokens by role, such as `bos_token`; `extra_special_tokens` is a list.
        chat_template: One template, or several by name.
        details: What only one format knows, under that format's name. A reader leaves it for its own writer.

    Raises:
        ConversionError: A special token is no token of the vocabulary.

    Example:
        >>> vocabulary = Vocabulary.from_ranks({b"a": 0, b"b": 1, b"ab": 2}, split_pattern="gpt2")
        >>> vocabulary.merges, vocabulary.tokens[2]
        ([('a', 'b')], b'ab')
    """

    __slots__ = ("_chat_template", "_core", "_details", "_special_tokens")

    def __init__(
        self,
        core: Tokenizer,
        *,
        special_tokens: Roles = _NOTHING,
        chat_template: str | Mapping[str, str] | None = None,
        details: Mapping[str, object] = _NOTHING,
    ) -> None:
        _check_roles(core, special_tokens)
        self._core = core
        self._special_tokens: Roles = MappingProxyType(dict(special_tokens))
        self._chat_template = chat_template if isinstance(chat_template, str | None) else dict(chat_template)
        self._details: Mapping[str, object] = MappingProxyType(dict(details))

    @classmethod
    def from_json(
        cls,
        tokenizer_json: str | bytes | Mapping[str, Any],
        *,
        special_tokens: Roles = _NOTHING,
        chat_template: str | Mapping[str, str] | None = None,
        details: Mapping[str, object] = _NOTHING,
    ) -> Vocabulary:
        """Make a vocabulary of a tokenizer.json, as text or parsed.

        Raises:
            TokenizerFileError: The JSON is damaged or contradicts itself.
        """
        given = tokenizer_json
        data = given if isinstance(given, str | bytes) else json.dumps(given, ensure_ascii=False)
        core = Tokenizer.from_json(data)
        return cls(core, special_tokens=special_tokens, chat_template=chat_template, details=details)

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        split_pattern: str,
        added_tokens: Mapping[str, int] = _NOTHING,
        normalizer: object = None,
        ignore_merges: bool = True,
        special_tokens: Roles = _NOTHING,
        chat_template: str | Mapping[str, str] | None = None,
        details: Mapping[str, object] = _NOTHING,
    ) -> Vocabulary:
        """Make a vocabulary of a rank file: each token's bytes and its id, which is its priority as well.

        A rank file joins any two neighbours whose bytes together are a token, so each such split becomes a merge.

        Args:
            ranks: The id of each token.
            split_pattern: The name of a published pattern, or a regex.
            added_tokens: The id of each special token.
            normalizer: None, a name such as `"NFC"`, or JSON.
            ignore_merges: Whether a whole pretoken that is a token needs no merges, as in tiktoken.
            special_tokens: As for the class, and so are the others.
        """
        pipeline = pipeline_json.byte_level_pipeline(split_pattern, normalizer)
        names = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
        components = {name: json.dumps(pipeline[name], ensure_ascii=False) for name in names}
        core = Tokenizer.from_ranks(dict(ranks), dict(added_tokens), components, ignore_merges=ignore_merges)
        return cls(core, special_tokens=special_tokens, chat_template=chat_template, details=details)

    def replace(self, **changes: Any) -> Vocabulary:
        """Return a vocabulary that differs in the constructor's arguments given here.

        Example:
            >>> vocabulary.replace(chat_template=None)
        """
        given = {
            "special_tokens": self._special_tokens,
            "chat_template": self._chat_template,
            "details": self._details,
        } | changes
        return Vocabulary(given.pop("core", self._core), **given)

    # --- what it consists of

    @property
    def core(self) -> Tokenizer:
        """What a tokenizer.json says, in native tables."""
        return self._core

    @property
    def special_tokens(self) -> Roles:
        """The tokens by role, such as `bos_token`."""
        return self._special_tokens

    @property
    def chat_template(self) -> str | dict[str, str] | None:
        """The chat template, or several by name."""
        template = self._chat_template
        return dict(template) if isinstance(template, dict) else template

    @property
    def details(self) -> Mapping[str, object]:
        """What only one format knows, under that format's name."""
        return self._details

    # --- tokens and ids

    @property
    def tokens(self) -> Mapping[int, bytes]:
        """The bytes that each id stands for; of an added token its text."""
        return _TokenBytes(self._core)

    def get_vocab(self, *, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the id of each token as tokenizer.json spells it."""
        return self._core.get_vocab(with_added_tokens=with_added_tokens)

    def ranks(self) -> dict[bytes, int]:
        """Return the id of each token's bytes, without added tokens.

        Raises:
            ConversionError: The vocabulary isn't byte-level, or a token has a character outside the byte alphabet.
        """
        if not self.is_byte_level:
            raise ConversionError(
                "the vocabulary isn't byte-level: its tokens are text, and ranks are for bytes. Write tokenizer.json."
            )
        return self._core.ranks()

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The merges in order, as tokenizer.json spells them."""
        return self._core.merges()

    @property
    def added_tokens(self) -> Mapping[int, Mapping[str, Any]]:
        """The added tokens by id, each with its content and flags."""
        names = ("content", "special", "normalized", "single_word", "lstrip", "rstrip")
        return {id: dict(zip(names, flags, strict=True)) for id, flags in self._core.added_tokens()}

    def holes(self) -> list[range]:
        """Return the ids below the highest that no token has, as runs."""
        ids = sorted(set(self.get_vocab().values()))
        return [range(low + 1, high) for low, high in zip([-1, *ids], ids, strict=False) if high - low > 1]

    def doubles(self) -> dict[int, list[str]]:
        """Return the ids that several tokens share, with these tokens."""
        by_id: dict[int, list[str]] = defaultdict(list)
        for token, token_id in self.get_vocab().items():
            by_id[token_id].append(token)
        return {token_id: tokens for token_id, tokens in sorted(by_id.items()) if len(tokens) > 1}

    def __len__(self) -> int:
        """Return the highest id plus one: the rows that an embedding needs."""
        return self._core.max_id + 1

    def __bool__(self) -> bool:
        return True

    # --- the pipeline

    @property
    def normalizer(self) -> Json | None:
        """The JSON of the normalizer."""
        return _parsed(self._core.component("normalizer"))

    @property
    def pre_tokenizer(self) -> Json | None:
        """The JSON of the pre-tokenizer."""
        return _parsed(self._core.component("pre_tokenizer"))

    @property
    def post_processor(self) -> Json | None:
        """The JSON of the post-processor."""
        return _parsed(self._core.component("post_processor"))

    @property
    def decoder(self) -> Json | None:
        """The JSON of the decoder."""
        return _parsed(self._core.component("decoder"))

    @property
    def split_pattern(self) -> str | None:
        """The one regex that cuts text before bytes are merged, or None where no single regex says it."""
        return pipeline_json.split_pattern_of(self.pre_tokenizer)

    @property
    def is_byte_level(self) -> bool:
        """Whether tokens are written in the byte alphabet."""
        return self._core.is_byte_level

    @property
    def model_settings(self) -> Json:
        """The settings of the model, as tokenizer.json names them: `ignore_merges`, `unk_token`, ..."""
        return self._core.model_settings()

    @property
    def ignore_merges(self) -> bool:
        """Whether a pretoken that is a token needs no merges."""
        return bool(self.model_settings["ignore_merges"])

    @property
    def byte_fallback(self) -> bool:
        """Whether an unknown character is spelled in tokens such as `<0x0A>`."""
        return bool(self.model_settings["byte_fallback"])

    # --- as a value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._core)

    def __repr__(self) -> str:
        return f"Vocabulary({self._core!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, self._parts()

    def _parts(self) -> tuple[Any, ...]:
        return self._core, dict(self._special_tokens), self._chat_template, dict(self._details)


def _rebuild(core: Tokenizer, special_tokens: Roles, chat_template: Any, details: Mapping[str, object]) -> Vocabulary:
    return Vocabulary(core, special_tokens=special_tokens, chat_template=chat_template, details=details)


class _TokenBytes(Mapping[int, bytes]):
    """Token bytes by id, looked up in the core."""

    def __init__(self, core: Tokenizer) -> None:
        self._core = core

    def __getitem__(self, token_id: int) -> bytes:
        return self._core.get_token_bytes(token_id)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(set(self._core.get_vocab().values())))

    def __len__(self) -> int:
        return len(set(self._core.get_vocab().values()))


def _parsed(component: str | None) -> Json | None:
    return None if component is None else json.loads(component)


def _check_roles(core: Tokenizer, special_tokens: Roles) -> None:
    for role, value in special_tokens.items():
        tokens: Sequence[str] = [value] if isinstance(value, str) else value
        for token in tokens:
            if core.token_to_id(token) is None:
                raise ConversionError(f"special_tokens[{role!r}] is {token!r}, which is no token of the vocabulary.")
