"""`card`: the model card of a tokenizer, section by section."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData

from hf_bpe.cards import markdown
from hf_bpe.cards.about import About
from hf_bpe.cards.chats import chat
from hf_bpe.cards.differences import differences
from hf_bpe.cards.pipeline import pipeline
from hf_bpe.fingerprinting import fingerprint
from hf_bpe.measure import fertility, measured, numbers, parity, vocabulary
from hf_bpe.tokenizer import HfBpeTokenizer

_NOT_STATED = "Not stated."
_PADDED_TO = (64, 128)


@dataclass(frozen=True)
class Card:
    """A model card.

    Attributes:
        data: What its front matter says.
        body: What follows, as Markdown.
    """

    data: ModelCardData
    body: str

    def __str__(self) -> str:
        return f"---\n{self.data.to_yaml()}\n---\n\n{self.body}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the card to a file, such as README.md."""
        Path(path).write_text(str(self), encoding="utf-8", newline="\n")


def card(
    tokenizer: HfBpeTokenizer | str | os.PathLike[str],
    corpus: Any = None,
    *,
    about: About | None = None,
    text_column: str = "text",
) -> Card:
    """Return the model card of a tokenizer. Every figure in it is measured here.

    Args:
        tokenizer: The tokenizer, or its directory.
        corpus: Texts to measure, as `hf_bpe.measure.fertility` takes them: a mapping names them. None leaves them out.
        about: What can't be measured.
        text_column: The column with the text, in rows.

    Raises:
        HfBpeError: The files are damaged.
        ValueError: The tokenizer has dropout, so that its figures would be others each time.
        TypeError: An argument has a wrong type.

    Example:
        >>> card("my-tokenizer", {"English": english}, about=About(license="mit")).save("my-tokenizer/README.md")
    """
    known = about or About()
    if isinstance(tokenizer, HfBpeTokenizer):
        loaded = tokenizer
    else:
        known = replace(known, name=known.name or Path(tokenizer).resolve().name)
        loaded = HfBpeTokenizer.from_pretrained(tokenizer)
    if loaded._core.dropout:
        raise ValueError(
            f"card(): this tokenizer has a dropout of {loaded._core.dropout:g}, so that no text has one length in "
            "tokens. Set model.dropout to null in its tokenizer.json."
        )
    return Card(_front_matter(known), "\n\n".join(_sections(loaded, corpus, known, text_column)) + "\n")


def _front_matter(about: About) -> ModelCardData:
    return ModelCardData(
        language=list(about.languages) or None,
        license=about.license or None,
        library_name="transformers",
        base_model=about.base_model or None,
        tags=["tokenizer", "bpe", "hf_bpe", *about.tags],
    )


def _sections(tokenizer: HfBpeTokenizer, corpus: Any, about: About, text_column: str) -> Iterator[str]:
    core, name = tokenizer._core, about.name or "tokenizer"
    kind = "bytes" if core.is_byte_level else "characters"
    yield f"# {markdown.text(name)}"
    yield f"A byte pair encoding tokenizer of {kind}: {len(tokenizer):,} tokens."
    yield f"## Purpose\n\n{about.purpose or _NOT_STATED}"
    yield f"## Training data\n\n{about.training_data or _NOT_STATED}"
    yield f"**Sampling.** {about.sampling or _NOT_STATED}"
    yield from pipeline(core)
    yield from _sizes(tokenizer)
    yield from _special_tokens(tokenizer)
    yield from chat(tokenizer)
    yield from _measures(tokenizer, corpus, text_column)
    yield from differences(core)
    yield "## Fingerprint"
    yield f"`{fingerprint(tokenizer)}`, of what decides ids: `hf_bpe.fingerprint(tokenizer)` gives it again."
    yield from _loading(name)
    yield f"## Licence\n\n{markdown.text(about.license) or _NOT_STATED}"


def _sizes(tokenizer: HfBpeTokenizer) -> Iterator[str]:
    core = tokenizer._core
    highest, added = core.max_id + 1, len(core.added_tokens())
    rows = [
        ("tokens", len(tokenizer)),
        ("added tokens among them", added),
        ("merges", len(core.merges())),
        ("rows of an embedding (the highest id plus one)", highest),
        *((f"the same, padded to a multiple of {unit}", -(-highest // unit) * unit) for unit in _PADDED_TO),
    ]
    yield "## Sizes and padding"
    yield markdown.rows(["", "count"], [(what, f"{count:,}") for what, count in rows], numbers=[False, True])
    side, token = tokenizer.padding_side, tokenizer.pad_token
    with_what = f"with {markdown.code(token)}" if token else "(there is no padding token yet)"
    yield f"Batches are padded on the {side} {with_what}."


def _special_tokens(tokenizer: HfBpeTokenizer) -> Iterator[str]:
    yield "## Special tokens"
    roles: dict[str, list[str]] = {}
    for role, token in tokenizer.special_tokens_map.items():
        for each in token if isinstance(token, list | tuple) else [token]:
            roles.setdefault(str(each), []).append(role.removesuffix("_token"))
    rows = [
        (
            f"{id}",
            markdown.code(token.content),
            "yes" if token.special else "no",
            ", ".join(roles.get(token.content, [])),
        )
        for id, token in sorted(tokenizer.added_tokens_decoder.items())
    ]
    yield (
        markdown.rows(["id", "token", "special", "role"], rows, numbers=[True, False, False, False])
        if rows
        else "None."
    )


def _measures(tokenizer: HfBpeTokenizer, corpus: Any, text_column: str) -> Iterator[str]:
    source = measured(tokenizer, name="tokenizer")
    yield "## Tokens by language"
    yield "The first sentence of the Universal Declaration of Human Rights, an indication and no more:"
    yield from map(markdown.table, parity(source).tables())
    if corpus is not None:
        yield "Texts that were measured, by what they are from, by script, and by kind of content:"
        for table in fertility(source, corpus, text_column=text_column).tables():
            yield markdown.table(table, without=["words"])
    yield "## Numbers"
    yield "How numbers of each length are cut (a sample of longer ones), and how often in the same way elsewhere:"
    yield from map(markdown.table, numbers(source).tables())
    yield "## What the vocabulary holds"
    scripts, _, odd, _ = vocabulary(source).tables()
    yield markdown.table(scripts)
    yield markdown.table(odd)


def _loading(name: str) -> Iterator[str]:
    quoted = json.dumps(name, ensure_ascii=False)
    yield "## Loading"
    yield "With hf_bpe:"
    yield markdown.block(
        f"import hf_bpe\nfrom transformers import AutoTokenizer\n\ntokenizer = AutoTokenizer.from_pretrained({quoted})",
        "python",
    )
    yield "Without it, with the same ids:"
    yield markdown.block(
        "from transformers import PreTrainedTokenizerFast\n\n"
        f"tokenizer = PreTrainedTokenizerFast.from_pretrained({quoted})",
        "python",
    )
