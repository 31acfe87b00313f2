"""What the readers of components share: the steps of a `Sequence`, and how a refusal reads."""

from __future__ import annotations

from typing import Any, TypeAlias

from hf_bpe.errors import ConversionError

Json: TypeAlias = dict[str, Any]


def steps_of(component: Json | None) -> list[Json]:
    """Return the steps of a component, those of a `Sequence` one by one."""
    if component is None:
        return []
    if component["type"] != "Sequence":
        return [component]
    inner = component.get("normalizers") or component.get("pretokenizers") or component.get("decoders") or ()
    return [step for part in inner for step in steps_of(part)]


def in_a_row(steps: list[Json], key: str) -> Json | None:
    """Return the component that runs `steps`, the reverse of `steps_of`; `key` names the parts of a `Sequence`."""
    if len(steps) > 1:
        return {"type": "Sequence", key: steps}
    return steps[0] if steps else None


def refusal(target: str, reason: str, text: str) -> ConversionError:
    """Return the error that says why `target` can't hold a vocabulary, and which text would change."""
    return ConversionError(f"{target} can't hold this vocabulary: {reason}. The text {text!r} would change.")
