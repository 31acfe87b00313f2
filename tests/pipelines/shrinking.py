"""Makes a failure small: drops components, options, tokens and characters while both libraries still differ."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pipelines import Json
from pipelines.probes import Both, Difference, Probe, StockPanicked

SECONDS = 20.0
_LISTS = ("normalizers", "pretokenizers", "processors", "decoders", "single", "pair")
_PLAIN_VALUES = (None, False, True, "", "a", 0, 1)


def difference(data: Json, probe: Probe | None) -> Difference | None:
    """Return how the libraries differ over `data`: in loading it, or in their answer to `probe`."""
    try:
        both = Both(data)
    except StockPanicked:
        return None
    if not both.loads or probe is None:
        return both.refused
    return both.difference(probe)


def shrink(data: Json, probe: Probe | None, *, seconds: float = SECONDS) -> tuple[Json, Probe | None]:
    """Return the smallest file and probe that were found to differ in what `data` and `probe` differ in."""
    first = difference(data, probe)
    assert first is not None
    deadline = time.monotonic() + seconds

    def fails(data: Json, probe: Probe | None) -> bool:
        if time.monotonic() > deadline:
            return False
        found = difference(data, probe)
        return found is not None and (found.what == "loading") == (first.what == "loading")

    smaller = True
    while smaller and time.monotonic() < deadline:
        smaller = False
        for steps in (_smaller_probes, _smaller_files):
            while (found := next((pair for pair in steps(data, probe) if fails(*pair)), None)) is not None:
                (data, probe), smaller = found, True
    return data, probe


def report(data: Json, probe: Probe | None, *, seconds: float = SECONDS) -> str:
    """Return a failure in the least words: the shrunk file, the probe, and both answers."""
    data, probe = shrink(data, probe, seconds=seconds)
    found = difference(data, probe)
    assert found is not None
    asked = (
        probe
        if probe is None
        else {
            name: value
            for name in Probe.__dataclass_fields__
            if (value := getattr(probe, name)) != getattr(Probe(), name) or name == "text"
        }
    )
    return (
        f"{found.what} differs for {asked!a}\n  ours:  {found.ours!a}\n  stock: {found.stock!a}\n"
        f"  file:  {json.dumps(data)}"
    )


def _smaller_probes(data: Json, probe: Probe | None) -> Iterator[tuple[Json, Probe | None]]:
    if probe is None:
        return
    for change in (
        {"pair": None},
        {"truncation": None},
        {"split_special_tokens": False},
        {"add_special_tokens": False},
    ):
        if any(getattr(probe, name) != value for name, value in change.items()):
            yield data, replace(probe, **change)  # type: ignore[arg-type]
    for name in ("text", "pair", "ids"):
        value = getattr(probe, name)
        if isinstance(value, tuple) and name != "ids" and value:
            yield data, replace(probe, text="".join(probe.text), pair=None)
            for at, word in enumerate(value):
                for cut in _cuts(word):
                    yield data, replace(probe, **{name: (*value[:at], cut, *value[at + 1 :])})
        if isinstance(value, (str, tuple)):
            for cut in _cuts(value):
                yield data, replace(probe, **{name: cut})
        if isinstance(value, str):
            for at, character in enumerate(value):
                if character not in "a ":
                    yield data, replace(probe, **{name: value[:at] + "a" + value[at + 1 :]})


def _cuts(value: Any) -> Iterator[Any]:
    """Yield `value` without a half, a quarter, ... one of its items."""
    length = len(value) // 2
    while length:
        for at in range(0, len(value), length):
            yield value[:at] + value[at + length :]
        length //= 2
    if len(value) == 1:
        yield value[:0]


def _smaller_files(data: Json, probe: Probe | None) -> Iterator[tuple[Json, Probe | None]]:
    for change in _changes(data):
        changed = copy.deepcopy(data)
        if change(changed) is not False:
            yield changed, probe


def _changes(data: Json) -> Iterator[Callable[[Json], Any]]:
    for name in ("post_processor", "decoder", "normalizer", "pre_tokenizer"):
        if data[name] is not None:
            yield lambda data, name=name: data.__setitem__(name, None)
            yield from _component_changes([name], data[name])
    for at in range(len(data["added_tokens"])):
        yield lambda data, at=at: data["added_tokens"].pop(at) and _renumber(data)
        for flag in ("single_word", "lstrip", "rstrip", "normalized", "special"):
            if data["added_tokens"][at][flag]:
                yield lambda data, at=at, flag=flag: data["added_tokens"][at].__setitem__(flag, False)
    model = data["model"]
    for name in ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"):
        if model[name] is not None:
            yield lambda data, name=name: data["model"].__setitem__(name, None)
    for name in ("fuse_unk", "byte_fallback", "ignore_merges"):
        if model[name]:
            yield lambda data, name=name: data["model"].__setitem__(name, False)
    for merges in _cuts(model["merges"]):
        yield lambda data, merges=merges: data["model"].__setitem__("merges", merges)
    for tokens in _cuts(list(model["vocab"])):
        if tokens:
            yield lambda data, tokens=tokens: _keep_tokens(data, tokens)


def _component_changes(path: list[str | int], value: Any) -> Iterator[Callable[[Json], Any]]:
    """Yield what makes the component at `path` simpler: a step alone, a step less, a plain value for an option."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        inner = [*path, key]
        if key in _LISTS:
            for cut in _cuts(item):
                yield lambda data, inner=inner, cut=cut: _put(data, inner, cut)
            for step in item:
                yield lambda data, step=step: _put(data, path, step)
        if isinstance(item, (dict, list)):
            yield from _component_changes(inner, item)
        elif key not in ("type", "id", "precompiled_charsmap"):
            for plain in _PLAIN_VALUES:
                if type(plain) is type(item) and _size(plain) < _size(item):
                    yield lambda data, inner=inner, plain=plain: _put(data, inner, plain)


def _size(value: Any) -> int:
    return len(value) * 2 + (value != "a") if isinstance(value, str) else int(value or 0)


def _put(data: Any, path: list[str | int], value: Any) -> None:
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


def _renumber(data: Json) -> bool:
    """Close the holes behind the vocabulary; ids that post-processors name go by their token."""
    vocab, size = data["model"]["vocab"], len(data["model"]["vocab"])
    for token in data["added_tokens"]:
        token["id"] = vocab.get(token["content"], size)
        size += token["content"] not in vocab
    ids = vocab | {token["content"]: token["id"] for token in data["added_tokens"]}
    return _point(data["post_processor"], ids)


def _point(component: Any, ids: Json) -> bool:
    if not isinstance(component, dict):
        return True
    for name in ("sep", "cls"):
        if name in component:
            if component[name][0] not in ids:
                return False
            component[name][1] = ids[component[name][0]]
    for name, special in component.get("special_tokens", {}).items():
        if name not in ids:
            return False
        special["ids"] = [ids[name]]
    return all(_point(step, ids) for step in component.get("processors", []))


def _keep_tokens(data: Json, tokens: list[str]) -> bool:
    model = data["model"]
    prefix = len(model["continuing_subword_prefix"] or "")
    kept = set(tokens)
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    model["vocab"] = {token: at for at, token in enumerate(tokens)}
    model["merges"] = [
        merge
        for merge, pair in zip(model["merges"], pairs, strict=True)
        if {pair[0], pair[1], pair[0] + pair[1][prefix:]} <= kept
    ]
    return _renumber(data)
