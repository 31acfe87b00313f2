"""Gives a tokenizer a chat format: the tokens that it needs, its template, EOS and stop ids.

Each token of the format is looked up by its name, since one id has other names in other versions of a vocabulary.

1. A token that is there keeps its id.
2. One that is missing takes a reserved token's id, under its own name: see `hf_bpe.chat.reserved`.
3. Only when no reserved token is left does it get a new id, after all others.

No id moves, and the id of no other token changes its name. Everything is checked before anything changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tokenizers import AddedToken

from hf_bpe._native import Tokenizer
from hf_bpe.chat import reserved, templates
from hf_bpe.chat.families import Family, family
from hf_bpe.special_tokens import from_flags, to_flags
from hf_bpe.tokenizer import HfBpeTokenizer

_STOP_TOKENS = "stop_tokens"


@dataclass(frozen=True)
class InstallReport:
    """What installing a chat format did.

    Attributes:
        template: The name of the template.
        reused: The tokens that were there, and their ids.
        renamed: The tokens that took the ids of reserved ones, and the old names.
        added: The tokens with new ids, and these.
        eos_token: What ends a turn now.
        stop_ids: The ids at which generation is to stop, `eos_token`'s first.
        vocab_size: How many rows an embedding needs now.
        rows_to_add: How many of them a model of the old vocabulary lacks.
    """

    template: str
    reused: Mapping[str, int]
    renamed: Mapping[str, str]
    added: Mapping[str, int]
    eos_token: str
    stop_ids: Sequence[int]
    vocab_size: int
    rows_to_add: int
    _roles: Mapping[str, int] = field(default_factory=dict, repr=False)

    def generation_config(self) -> dict[str, int | list[int]]:
        """Return the ids that a model's `generation_config.json` should say.

        Example:
            >>> model.generation_config.update(**report.generation_config())
        """
        return {**self._roles, "eos_token_id": list(self.stop_ids)}

    def __str__(self) -> str:
        """Tell it in a few lines."""

        def listed(tokens: Mapping[str, object]) -> str:
            return ", ".join(f"{token} ({what})" for token, what in tokens.items()) or "none"

        return (
            f"chat template {self.template}: EOS {self.eos_token}, stop ids {', '.join(map(str, self.stop_ids))}\n"
            f"tokens that were there: {listed(self.reused)}\n"
            f"reserved tokens renamed: {listed(self.renamed)}\n"
            f"tokens added: {listed(self.added)}\n"
            f"embedding rows: {self.vocab_size}, {self.rows_to_add} of them to add"
        )


def install(
    tokenizer: HfBpeTokenizer,
    name: str,
    *,
    training: bool = False,
    use_reserved: bool = True,
    embedding_rows: int | None = None,
) -> InstallReport:
    """Give `tokenizer` a chat format.

    It gets the tokens of the format, the template, and an EOS that ends turns. The old EOS stays among the stop ids,
    which the tokenizer remembers: see `stop_ids`. A BOS and a padding token that it has stay.

    Args:
        tokenizer: Changed in place.
        name: One of `templates.NAMES`.
        training: Whether the template marks what the assistant says, for `return_assistant_tokens_mask=True`.
        use_reserved: Whether missing tokens may take the ids of reserved ones. If not, all get new ids.
        embedding_rows: How many rows the model's embedding has; by default, as many as the vocabulary needs before.

    Returns:
        What was done, and how many embedding rows are to be added.

    Raises:
        ValueError: There is no such template, or a token of the format has another job in this vocabulary, or
            `embedding_rows` is no number of rows.
        TypeError: `tokenizer` is no `HfBpeTokenizer`.

    Example:
        >>> report = install(tokenizer, "chatml")
        >>> report.added, report.rows_to_add
        ({'<|im_start|>': 280, '<|im_end|>': 281}, 2)
    """
    if not isinstance(tokenizer, HfBpeTokenizer):
        raise TypeError(
            f"install() takes an HfBpeTokenizer, got {type(tokenizer).__name__}; "
            "load the directory with HfBpeTokenizer.from_pretrained."
        )
    wanted = family(name)
    if embedding_rows is not None and (not isinstance(embedding_rows, int) or embedding_rows < 0):
        raise ValueError(
            f"embedding_rows is the number of rows that an embedding has, 0 or more, not {embedding_rows!r}."
        )
    rows = len(tokenizer) if embedding_rows is None else embedding_rows
    plan = _plan(tokenizer, wanted, use_reserved=use_reserved)
    tokenizer._core = plan.core
    _rename_listed(tokenizer, plan.renamed)
    stopped_at = _listed_stop_tokens(tokenizer)
    _set_roles(tokenizer, wanted)
    tokenizer.chat_template = templates.load(name, training=training)
    tokenizer.init_kwargs[_STOP_TOKENS] = list(_with_ids(tokenizer, [*wanted.stop_tokens, *stopped_at]))
    return InstallReport(
        template=name,
        reused={token: tokenizer.convert_tokens_to_ids(token) for token in plan.reused},
        renamed=plan.renamed,
        added={token: tokenizer.convert_tokens_to_ids(token) for token in plan.added},
        eos_token=wanted.eos_token,
        stop_ids=stop_ids(tokenizer),
        vocab_size=len(tokenizer),
        rows_to_add=max(0, len(tokenizer) - rows),
        _roles=_ids_of_roles(tokenizer),
    )


def stop_ids(tokenizer: HfBpeTokenizer) -> list[int]:
    """Return the ids at which generation is to stop: those of the installed format, or EOS alone.

    Saving and loading keeps them. `generate` knows them once they are in the model's generation config.

    Example:
        >>> stop_ids(tokenizer)
        [128009, 128008, 128001]
    """
    return list(_with_ids(tokenizer, _listed_stop_tokens(tokenizer)).values())


class _Plan(NamedTuple):
    core: Tokenizer
    reused: list[str]
    renamed: dict[str, str]
    added: list[str]


def _plan(tokenizer: HfBpeTokenizer, wanted: Family, *, use_reserved: bool) -> _Plan:
    """Return the vocabulary with the tokens of the format, and where each of them came from."""
    core = tokenizer._core
    needed = {token.content: token for token in wanted.tokens(has_bos=tokenizer.bos_token is not None)}
    known = {flags[0]: from_flags(flags) for _, flags in core.added_tokens()}
    for content, token in needed.items():
        if content in known:
            check_known(token, known[content])
        else:
            _check_not_ordinary(core, token)
    missing = [content for content in needed if content not in known]
    renamed: dict[str, str] = {}
    if use_reserved and missing:
        used = {str(token) for token in tokenizer._special_tokens_map.values() if token is not None}
        renamed = reserved.choose(missing, reserved.reserved_tokens(core, used), wanted.published_ids)
        flags = {old: to_flags(needed[new]) for new, old in renamed.items()}
        core = reserved.with_renamed_tokens(core, flags) if flags else core
    added = [content for content in missing if content not in renamed]
    core = core.with_added_tokens([to_flags(needed[content]) for content in added])[0] if added else core
    return _Plan(core, [content for content in needed if content in known], renamed, added)


def _check_not_ordinary(core: Tokenizer, needed: AddedToken) -> None:
    """Raise where a missing token of the format is one that merges make, or that text may spell."""
    content = needed.content
    if (token_id := core.token_to_id(content)) is not None:
        raise ValueError(
            f"the chat format needs {content!r} as an added token, and it is an ordinary one here (id {token_id}). To "
            f"give it that job, first call tokenizer.add_tokens(AddedToken({content!r}, special={needed.special}, "
            "normalized=False))."
        )


def check_known(needed: AddedToken, known: AddedToken) -> None:
    """Raise where an added token can't do what the format needs it for.

    One that is special here and plain in the format may stay: it only vanishes when special tokens are skipped.

    Raises:
        ValueError: It isn't special, or isn't found wherever the template writes it, or takes blanks beside it.
    """
    content = needed.content
    if needed.special and not known.special:
        raise ValueError(
            f"the chat format needs {content!r} as a special token, and it is an added token that isn't special: set "
            '"special" among added_tokens of tokenizer.json, and in added_tokens_decoder of tokenizer_config.json.'
        )
    for flag in ("single_word", "lstrip", "rstrip"):
        if getattr(known, flag):
            raise ValueError(
                f"the chat format writes {content!r} without regard to what stands beside it, and it is an added token "
                f"with {flag}=True: unset that."
            )


def _rename_listed(tokenizer: HfBpeTokenizer, renamed: Mapping[str, str]) -> None:
    new_names = {old: new for new, old in renamed.items()}
    listed = [new_names.get(str(token), token) for token in tokenizer.extra_special_tokens]
    if listed != list(tokenizer.extra_special_tokens):
        tokenizer.extra_special_tokens = listed


def _set_roles(tokenizer: HfBpeTokenizer, wanted: Family) -> None:
    tokenizer.eos_token = wanted.eos_token
    if tokenizer.bos_token is None and wanted.bos_token is not None:
        tokenizer.bos_token = wanted.bos_token
    if tokenizer.pad_token is None and wanted.pad_token in tokenizer.get_added_vocab():
        tokenizer.pad_token = wanted.pad_token


def _listed_stop_tokens(tokenizer: HfBpeTokenizer) -> list[str]:
    listed = tokenizer.init_kwargs.get(_STOP_TOKENS)
    return [str(token) for token in listed or [tokenizer.eos_token]]


def _with_ids(tokenizer: HfBpeTokenizer, tokens: Sequence[str]) -> dict[str, int]:
    known = tokenizer.get_added_vocab()
    return {token: known[token] for token in tokens if token in known}


def _ids_of_roles(tokenizer: HfBpeTokenizer) -> dict[str, int]:
    ids = {"bos_token_id": tokenizer.bos_token_id, "pad_token_id": tokenizer.pad_token_id}
    return {role: token_id for role, token_id in ids.items() if token_id is not None}
