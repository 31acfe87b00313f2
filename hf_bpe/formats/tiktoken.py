"""tiktoken's rank files: a line `BASE64 RANK` for each token.

These are `.tiktoken` files, and the `tokenizer.model` of Llama 3 and 4, Kimi K2 and Qwen. They hold neither the split
pattern nor the special tokens. For ranks that are known these are looked up; for others they are asked for.

No file of ranks says that a text begins with BOS, and neither tiktoken nor Meta's own loader puts it there unasked: nor
does what is read here. The tokenizer.json that Meta publishes for Llama 3 does, by a template, and models expect it.
Whoever wants that says `add_bos_token=True`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from hf_bpe.errors import ConversionError
from hf_bpe.formats import arguments, files, rank_files
from hf_bpe.known_encodings import KNOWN_ENCODINGS, KnownEncoding, recognise
from hf_bpe.special_tokens import around, bos_eos_template
from hf_bpe.vocabulary import Vocabulary

NAME = "tiktoken"

_LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} \d{1,10}\r?\n")
_KIND = "a file of ranks"
# The loaders of Llama, Qwen and Kimi number special tokens from the number of ranks up.
_NUMBERING_LOADERS = ("tokenizer.model", "tiktoken.model", "qwen.tiktoken")


def sniff(path: Path) -> bool:
    """Whether the first line of `path` is a token in base64 and its rank."""
    start = files.head(Path(path))
    return _LINE.match(start) is not None or re.fullmatch(rb"[A-Za-z0-9+/]+={0,2} \d{1,10}", start) is not None


def read(
    path: str | Path,
    *,
    encoding: str | None = None,
    split_pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    normalizer: object = None,
    add_bos_token: bool = False,
    like: Vocabulary | None = None,
) -> Vocabulary:
    """Read a file of ranks.

    Args:
        path: The file.
        encoding: The name of a known encoding whose pattern and special tokens are taken: several can have the same
            ranks, such as `"o200k_base"` and `"o200k_harmony"`.
        split_pattern: The name of a published pattern, or a regex, for ranks that aren't known.
        special_tokens: The id of each special token. In place of those that are known.
        normalizer: What happens to a text first, for ranks that aren't known: a name such as `"NFC"`, or JSON.
        add_bos_token: Whether encoding adds BOS, as the published tokenizer.json of Llama 3 does. For known ranks.
        like: A vocabulary whose pipeline and added tokens are taken.

    Raises:
        ConversionError: The file is damaged, or its split pattern isn't known and wasn't given.
    """
    path = Path(path)
    data = files.read_bytes(path, kind=_KIND)
    ranks = rank_files.parse(data, path)
    if (byte := rank_files.missing_byte(ranks)) is not None:
        raise ConversionError(f"{path} has no token for the byte 0x{byte:02X}: it isn't complete.")
    if like is not None:
        return _with_ranks(like, ranks)
    special_tokens = arguments.ids_by_token(special_tokens, "special_tokens")
    encoding = arguments.a_name(encoding, "encoding")
    known = _known(encoding) if encoding is not None else recognise(ranks)
    if split_pattern is None and (known is None or known.split_pattern is None):
        names = ", ".join(repr(name) for name, fact in KNOWN_ENCODINGS.items() if fact.digest != "")
        raise ConversionError(
            f"{path}: these {len(ranks):,} ranks are none that are known ({names}), and the file holds no split "
            "pattern. Pass split_pattern=, and special_tokens= if there are any."
        )
    details = {"end": "" if not data.endswith(b"\n") else "\n"}
    if split_pattern is not None or known is None:
        vocabulary = Vocabulary.from_ranks(
            ranks,
            split_pattern=str(split_pattern),
            added_tokens=special_tokens or {},
            normalizer=normalizer,
            details={NAME: details},
        )
    else:
        vocabulary = _of_known(ranks, known, special_tokens, details)
    return _with_bos(vocabulary, path) if add_bos_token else vocabulary


def write(
    vocabulary: Vocabulary, path: str | Path, *, loader: Literal["tiktoken", "llama"] | None = None
) -> list[Path]:
    """Write a file of ranks. It holds neither the split pattern nor the added tokens nor the normalizer.

    Args:
        vocabulary: What to write.
        path: The file.
        loader: Who is going to read it: `"llama"` numbers special tokens from the number of ranks up, as the loaders of
            Llama, Qwen and Kimi do; `"tiktoken"` is told their ids. By default the name of the file decides.

    Raises:
        ConversionError: A rank file would give other ids. The message has the shortest text that shows it.
    """
    path = Path(path)
    ranks = rank_files.proven_ranks(vocabulary, target=_KIND)
    if loader == "llama" or (loader is None and path.name in _NUMBERING_LOADERS):
        _check_numbering(vocabulary, ranks, path)
    details = vocabulary.details.get(NAME)
    end = str(details.get("end", "\n")) if isinstance(details, Mapping) else "\n"
    path.write_bytes(b"\n".join(rank_files.lines(ranks)) + end.encode())
    return [path]


def options(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what the file leaves out, as arguments of `read`: nothing where the ranks say it all."""
    known = recognise(vocabulary.ranks())
    if known is None or not _says_all(known, vocabulary):
        return {"like": vocabulary}
    added = around(vocabulary.core, []).ids
    if not added:
        return {}
    bos = vocabulary.core.token_to_id(known.special_tokens.get("bos_token", ""))
    only_bos = added == [bos] and around(vocabulary.core, [0]).ids == [bos, 0]
    return {"add_bos_token": True} if only_bos else {"like": vocabulary}


def _of_known(
    ranks: dict[bytes, int], known: KnownEncoding, special_tokens: Mapping[str, int] | None, details: dict[str, str]
) -> Vocabulary:
    added = known.added_tokens if special_tokens is None else special_tokens
    return Vocabulary.from_ranks(
        ranks,
        split_pattern=known.split_patterns[0],
        added_tokens=added,
        normalizer=known.normalizer,
        special_tokens=roles_of(known, added),
        details={NAME: details | {"name": known.name}},
    )


def _with_bos(vocabulary: Vocabulary, path: Path) -> Vocabulary:
    token = vocabulary.special_tokens.get("bos_token")
    if not isinstance(token, str):
        raise ConversionError(
            f"{path}: add_bos_token asks for a BOS that isn't known of these ranks. Read them without, and pass "
            "bos_token= and add_bos_token=True to HfBpeTokenizer.from_vocabulary()."
        )
    token_id = vocabulary.core.token_to_id(token)
    template = bos_eos_template((token, cast("int", token_id)), None)
    return vocabulary.replace(core=vocabulary.core.with_component("post_processor", template))


def roles_of(known: KnownEncoding | None, added: Mapping[str, int]) -> dict[str, str]:
    roles = known.special_tokens if known is not None else {}
    return {role: token for role, token in roles.items() if token in added}


def _known(name: str) -> KnownEncoding:
    if name not in KNOWN_ENCODINGS:
        names = ", ".join(repr(known) for known in KNOWN_ENCODINGS)
        raise ConversionError(f"there is no known encoding {name!r:.60}; known are {names}.")
    return KNOWN_ENCODINGS[name]


def _with_ranks(like: Vocabulary, ranks: dict[bytes, int]) -> Vocabulary:
    plain = Vocabulary.from_ranks(ranks, split_pattern="gpt2")
    vocab = plain.get_vocab()
    kept = {token["content"] for token in like.added_tokens.values()}
    model = like.get_vocab(with_added_tokens=False).items()
    vocab |= {token: id for token, id in model if token in kept and token not in vocab}
    return like.replace(core=like.core.with_model(vocab, plain.merges, True))


def _says_all(known: KnownEncoding, vocabulary: Vocabulary) -> bool:
    rebuilt = _of_known(vocabulary.ranks(), known, None, {})
    names = ("normalizer", "pre_tokenizer", "added_tokens")
    return all(getattr(rebuilt, name) == getattr(vocabulary, name) for name in names)


def _check_numbering(vocabulary: Vocabulary, ranks: Mapping[bytes, int], path: Path) -> None:
    """Refuse what a loader that numbers special tokens after the ranks would number differently."""
    size = len(ranks)
    head = f"{path.name} is loaded with special tokens numbered from the number of ranks, {size:,}, up"
    added = sorted(rank_files.added_tokens(vocabulary), key=lambda item: item[0])
    for place, (token_id, token) in enumerate(added, start=size):
        if token_id != place:
            raise ConversionError(
                f"{head}: {token['content']!r} is [{token_id}] and would become [{place}]. tokenizer.json holds it."
            )
    if (highest := max(ranks.values())) >= size:
        last = next(token for token, rank in ranks.items() if rank == highest)
        raise ConversionError(f"{head}, and the token {last!r} has the id {highest:,}. tokenizer.json holds it.")
