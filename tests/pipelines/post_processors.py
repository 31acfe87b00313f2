"""Random post-processors."""

from __future__ import annotations

import random

from pipelines.choices import Json, byte_level, flag


def random_post_processor(rng: random.Random, specials: dict[str, int], depth: int = 0) -> Json | None:
    """Return none, one, or a Sequence; its special tokens are among `specials`."""
    kind = rng.choice((None, "ByteLevel", "Template", "Template", "Roberta", "Bert", "Sequence"))
    if kind == "ByteLevel":
        return byte_level(rng)
    if kind == "Template":
        return _template(rng, specials)
    if kind == "Roberta":
        return {
            **{"type": "RobertaProcessing", "sep": _special(rng, specials), "cls": _special(rng, specials)},
            **{"trim_offsets": flag(rng), "add_prefix_space": flag(rng)},
        }
    if kind == "Bert":
        return {"type": "BertProcessing", "sep": _special(rng, specials), "cls": _special(rng, specials)}
    if kind == "Sequence" and depth < 2:
        steps = [random_post_processor(rng, specials, depth + 1) for _ in range(rng.randrange(0, 3))]
        return {"type": "Sequence", "processors": [step for step in steps if step is not None]}
    return None if depth == 0 else byte_level(rng)


def _special(rng: random.Random, specials: dict[str, int]) -> list[str | int]:
    name = rng.choice(sorted(specials))
    return [name, specials[name]]


def _template(rng: random.Random, specials: dict[str, int]) -> Json:
    names = rng.sample(sorted(specials), min(len(specials), 2))

    def pieces(*sequences: str) -> list[Json]:
        items: list[Json] = [{"Sequence": {"id": id, "type_id": rng.randrange(3)}} for id in sequences]
        for _ in range(rng.randrange(3)):
            special = {"SpecialToken": {"id": rng.choice(names), "type_id": rng.randrange(3)}}
            items.insert(rng.randrange(len(items) + 1), special)
        return items

    pair = ("B", "A") if flag(rng, 0.15) else ("A", "B")
    table = {name: {"id": name, "ids": [specials[name]], "tokens": [name]} for name in names}
    return {"type": "TemplateProcessing", "single": pieces("A"), "pair": pieces(*pair), "special_tokens": table}
