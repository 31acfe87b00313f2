"""Chat templates of our own, in files beside this module: the text of each family's own template, to the byte.

Equal means: on any messages, tools and keyword arguments, the same text or the same error. Each file stands alone, so
that it can be read, and saved as a tokenizer's `chat_template.jinja`.

| name | family | keyword arguments beside `add_generation_prompt` |
|---|---|---|
| `chatml` | ChatML without trimming, default instructions or tools | |
| `llama3` | Llama 3 Instruct | |
| `llama3.2` | Llama 3.2 Instruct (text) | `date_string`, `custom_tools`, `tools_in_user_message` |
| `llama3.1`, `llama3.3` | Llama 3.1 and 3.3 Instruct | the same, and `builtin_tools` |
| `qwen2.5` | Qwen 2.5 Instruct | |
| `qwen3` | Qwen 3, with and without reasoning | `enable_thinking` |

A training variant marks with `{% generation %}` what `return_assistant_tokens_mask=True` gives a 1. Its text is that of
the plain one. The mask holds a turn of the assistant without its header, and

- `chatml`: `<|im_end|>`, as a model generates it;
- Llama: `<|eot_id|>` or `<|eom_id|>`;
- `qwen2.5`: the line end before the turn, `<|im_end|>` and the line end after it;
- `qwen3`: the reasoning, `<|im_end|>` and the line end after it.

For Llama 3, Qwen 2.5 and Qwen 3 these are the masks of TRL's training templates. TRL's Qwen 3 writes the reasoning of
every turn, which the family's own template drops from old ones: `keep_thinking=True` does so here.
"""

from __future__ import annotations

from importlib import resources

_FILES = {
    "chatml": "chatml",
    "llama3": "llama3",
    "llama3.1": "llama3_1",
    "llama3.2": "llama3_2",
    "llama3.3": "llama3_1",
    "qwen2.5": "qwen2_5",
    "qwen3": "qwen3",
}

NAMES: tuple[str, ...] = tuple(_FILES)
"""The templates that there are."""


def load(name: str, *, training: bool = False) -> str:
    """Return the text of a template.

    Args:
        name: One of `NAMES`.
        training: Whether to mark what the assistant says with `{% generation %}`.

    Raises:
        ValueError: There is no such template.

    Example:
        >>> "<|im_start|>" in load("chatml")
        True
    """
    check_name(name)
    file = f"{_FILES[name]}{'_training' if training else ''}.jinja"
    return resources.files(__name__).joinpath(file).read_text(encoding="utf-8").removesuffix("\n")


def check_name(name: str) -> None:
    """Raise where `name` is no template of ours.

    Raises:
        ValueError: There is no such template.
    """
    if name not in _FILES:
        raise ValueError(f"there is no chat template {name!r}; there are {', '.join(map(repr, NAMES))}")
