"""Runs golden cases against a tokenizer: which texts, ids, masks and errors come out, and where the others differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.canonical import pin_clock
from hf_bpe.chat.cases import Case, Json, read_cases
from hf_bpe.tokenizer import HfBpeTokenizer

_AROUND = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that came out otherwise.

    Attributes:
        case: The id of the case.
        what: `"text"`, `"ids"`, `"assistant_masks"` or `"error"`.
        at: Where the two part: an index of the text, the ids or the mask; 0 for an error.
        expected: What was to come out from shortly before there on, or the error.
        got: What came out there.
    """

    case: str
    what: str
    at: int
    expected: str
    got: str

    def __str__(self) -> str:
        """Tell it in a line."""
        place = "" if self.what == "error" else f" at {self.at}"
        return f"{self.case}: {self.what} differs{place}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True, slots=True)
class Conformance:
    """What `conformance` found. It is true where every case came out.

    Attributes:
        template: The name of the template that the cases were compared for; None where the file has but one.
        compared: How many cases were.
        differences: Those that came out otherwise, the first difference of each.
    """

    template: str | None
    compared: int
    differences: tuple[Difference, ...]

    def __bool__(self) -> bool:
        return bool(self.compared) and not self.differences

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        fields = ("case", "what", "at", "expected", "got")
        listed = [{name: getattr(difference, name) for name in fields} for difference in self.differences]
        return {"template": self.template, "compared": self.compared, "differences": listed}

    def __str__(self) -> str:
        """Tell it, a line for each difference."""
        of = "" if self.template is None else f" of {self.template}"
        count = f"{self.compared - len(self.differences)} of {self.compared} cases{of} come out as expected"
        return "\n".join([count, *map(str, self.differences)])


def conformance(
    tokenizer: PreTrainedTokenizerBase | str | Path,
    cases: str | Path | Json | Sequence[Json],
    *,
    template: str | None = None,
) -> Conformance:
    """Run golden cases through `apply_chat_template` and compare what comes out.

    Args:
        tokenizer: The tokenizer, ours or stock's, or its directory.
        cases: A file of cases, or what its JSON says: see `hf_bpe.chat.cases`.
        template: For which of the templates that the cases know something is expected. By default, for the one whose
            texts agree most.

    Raises:
        ValueError: The cases are damaged, or know no such template.

    Example:
        >>> cases = [{"messages": [{"role": "user", "content": "hi"}], "expected": {"text": "<|im_start|>user"}}]
        >>> print(conformance("my-tokenizer", cases))
        0 of 1 cases come out as expected
        0: text differs at 16: expected '<|im_start|>user', got '<|im_start|>user\\nhi<|im_end|>\\n'
    """
    loaded = HfBpeTokenizer.from_pretrained(tokenizer) if isinstance(tokenizer, str | Path) else tokenizer
    golden = read_cases(cases)
    known = golden.templates()
    if template is not None and template not in known:
        raise ValueError(
            f"the cases expect nothing of {template!r}; they know {', '.join(map(repr, known)) or 'nothing'}"
        )
    run = _Run(loaded, {} if golden.now is None else _pinned(loaded, golden.now))
    texts = [run.text(case) for case in golden.cases]
    chosen = template if template is not None else _nearest(golden.cases, texts, known)
    pairs = [(case, text) for case, text in zip(golden.cases, texts, strict=True) if chosen in case.expected]
    differences = (next(run.differences(case, text, case.expected[chosen]), None) for case, text in pairs)
    return Conformance(chosen, len(pairs), tuple(found for found in differences if found is not None))


def _pinned(tokenizer: PreTrainedTokenizerBase, now: datetime) -> dict[str, str]:
    """Return the argument that stops the clock of the tokenizer's template."""
    template = tokenizer.chat_template
    return {"chat_template": pin_clock(template, now)} if isinstance(template, str) else {}


def _nearest(cases: Sequence[Case], texts: Sequence[str | Json], known: Sequence[str | None]) -> str | None:
    def agreeing(name: str | None) -> int:
        return sum(case.expected.get(name, {}).get("text") == text for case, text in zip(cases, texts, strict=True))

    return max(known, key=agreeing, default=None)


class _Run:
    """A tokenizer at work on cases."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, settings: Mapping[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._settings = settings

    def _apply(self, case: Case, **settings: Any) -> Any:
        return self._tokenizer.apply_chat_template(**{**self._settings, **case.arguments, **settings})

    def text(self, case: Case) -> str | Json:
        """Return the text of a case, or its error."""
        try:
            text: str = self._apply(case, tokenize=False)
        except Exception as error:
            return _described(error)
        return text

    def differences(self, case: Case, text: str | Json, expected: Json) -> Iterator[Difference]:
        """Give what differs, the text first, since ids follow it."""
        error = expected.get("error")
        if error is not None or not isinstance(text, str):
            yield from _error_difference(case, error, text)
            return
        if "text" in expected:
            yield from _difference(case, "text", expected["text"], text)
        if not {"ids", "assistant_masks"} & expected.keys():
            return
        masked = {"return_assistant_tokens_mask": True} if "assistant_masks" in expected else {}
        refused = expected["ids"].get("error") if isinstance(expected.get("ids"), Mapping) else None
        try:
            batch = self._apply(case, return_dict=True, **masked)
        except Exception as failure:
            yield from _error_difference(case, refused, _described(failure))
            return
        if refused is not None:
            yield from _error_difference(case, refused, text)
            return
        for what, name in (("ids", "input_ids"), ("assistant_masks", "assistant_masks")):
            if what in expected:
                yield from _difference(case, what, expected[what], batch[name])


def _described(error: Exception) -> Json:
    return {"class": type(error).__name__, "module": type(error).__module__, "message": str(error)}


def _error_difference(case: Case, expected: Json | None, got: str | Json) -> Iterator[Difference]:
    same = (
        expected is not None and not isinstance(got, str) and all(got.get(name) == expected[name] for name in expected)
    )
    if not same:
        yield Difference(case.id, "error", 0, _told(expected), _told(None if isinstance(got, str) else got))


def _told(error: Json | None) -> str:
    return "none" if error is None else ": ".join(str(error[name]) for name in ("class", "message") if name in error)


def _difference(case: Case, what: str, expected: Any, got: Any) -> Iterator[Difference]:
    if expected != got:
        pairs = enumerate(zip(expected, got, strict=False))
        at = next((at for at, (one, other) in pairs if one != other), min(len(expected), len(got)))
        around = slice(max(0, at - _AROUND), at + _AROUND)
        yield Difference(case.id, what, at, repr(expected[around]), repr(got[around]))
