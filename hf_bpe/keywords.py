"""Keywords that no function takes, refused where a function hands on all that it gets: most are misspelt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from tokenizers import AddedToken

NAMED_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""Special tokens that every tokenizer of transformers has a name for. Others may be named, as `image_token`."""

TOKENIZER_SETTINGS = (
    *NAMED_TOKENS,
    *("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens"),
    *("model_max_length", "max_len", "model_input_names", "padding_side", "truncation_side"),
    *("add_bos_token", "add_eos_token", "add_prefix_space", "split_special_tokens", "dropout_seed", "compiled"),
    *("clean_up_tokenization_spaces", "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"),
    *("chat_template", "chat_control_tokens", "response_template", "response_schema"),
    *("name_or_path", "processor_class", "verbose"),
)
"""Arguments of `HfBpeTokenizer` that mean something for one that is trained (transformers 5)."""


def check_keywords(
    given: Mapping[str, Any], *functions: Callable[..., Any], also: Iterable[str] = (), who: str
) -> None:
    """Raise for a keyword that none of some functions has.

    Args:
        given: The keywords and their values.
        functions: Whose parameters are known.
        also: What is known besides. If `TOKENIZER_SETTINGS` is, any token may be named, as `image_token="<image>"`.
        who: The name of the call, for the message.

    Raises:
        TypeError: A keyword is unknown. The message names the nearest one that isn't.

    Example:
        >>> check_keywords({"eos_tokn": "</s>"}, also=TOKENIZER_SETTINGS, who="train()")
        Traceback (most recent call last):
        TypeError: train() got an unexpected keyword argument 'eos_tokn'; did you mean 'eos_token'?
    """
    also = tuple(also)
    known = dict.fromkeys(
        parameter.name
        for function in functions
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ) | dict.fromkeys(also)
    for name, value in given.items():
        if name in known or (also == TOKENIZER_SETTINGS and _is_named_token(name, value, known)):
            continue
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(sorted(known))}"
        raise TypeError(f"{who} got an unexpected keyword argument {name!r}; {hint}")


def _is_named_token(name: str, value: object, known: Iterable[str]) -> bool:
    """Whether this names a token, as transformers has it; `special_token` is `special_tokens` misspelt."""
    return name.endswith("_token") and isinstance(value, str | AddedToken | None) and f"{name}s" not in known
