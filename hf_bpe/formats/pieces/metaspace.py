"""The pre-tokenizer and decoder `Metaspace`, said in the steps of a piece model where the two do the same.

`Metaspace` writes spaces as "▁", may put one before a text, and may cut before each. A piece model does the same

- without a prefix (`prepend_scheme` "never"), or where the normalizer puts "▁" before every text. "first" and "always"
  alone put none before a text that begins with a space or "▁", and a piece model always does: ids differ on " a".
- without cutting (`split`), or where no piece that merging makes has a "▁" behind its first character: then nothing
  is merged across a cut. That holds for what was trained with `split`. Merges inside a text never look beyond it, so
  a piece is made in some text exactly if its own text makes it.

The decoder drops each "▁" of the first token, and a piece model one: the same where no piece has two, or one further
in. (The byte `<0x20>`, which no text gives as its spaces are "▁", is a space to one at the start, and nothing to the
other.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hf_bpe._native import Tokenizer
from hf_bpe.errors import ConversionError
from hf_bpe.formats import differences
from hf_bpe.formats.pieces.components import Json, in_a_row, refusal, steps_of
from hf_bpe.formats.pieces.model import SPACE, PieceModel
from hf_bpe.vocabulary import Vocabulary

_ESCAPE = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
_PROBES = (" ", "  ", SPACE, " a", f"{SPACE}a", f"a{SPACE}", "a b", "a  b", "a", "")


def spelled_out(vocabulary: Vocabulary, target: str) -> Vocabulary:
    """Return a vocabulary without the pre-tokenizer `Metaspace`, whose normalizer gives the same ids on every text.

    One with another pre-tokenizer, or none, is returned as it is.

    Raises:
        ConversionError: None does that a piece model has. The message names a text.
    """
    steps = steps_of(vocabulary.pre_tokenizer)
    if [step["type"] for step in steps] != ["Metaspace"]:
        return vocabulary
    metaspace = steps[0]
    if metaspace["replacement"] != SPACE:
        reason = f"pre_tokenizer 'Metaspace' writes spaces as {metaspace['replacement']!r}, such a model as {SPACE!r}"
        raise refusal(target, reason, " ")
    whole: Json = json.loads(vocabulary.core.to_json(pretty=False))
    normalizers = _escaping(steps_of(whole["normalizer"]))
    whole["normalizer"] = in_a_row(normalizers, "normalizers")
    whole["pre_tokenizer"] = None
    whole["added_tokens"] = [_sought_in_raw_text(token, vocabulary) for token in whole["added_tokens"]]
    same = Tokenizer.from_json(json.dumps(whole))
    if metaspace["prepend_scheme"] != "never" and not _prepends(normalizers):
        _refuse_prefix(vocabulary, whole, target)
    if metaspace["split"]:
        _check_cuts(vocabulary, same, target)
    return vocabulary.replace(core=same)


def undoes(decoder: Json | None, model: PieceModel) -> bool:
    """Whether `decoder` is a `Metaspace` that makes the text of tokens that a piece model makes."""
    steps = steps_of(decoder)
    if not steps or steps[0]["type"] != "Metaspace" or steps[0]["replacement"] != SPACE:
        return False
    to_bytes = [{"type": "ByteFallback"}] if model.byte_fallback else []
    if steps[1:] not in (to_bytes, [*to_bytes, {"type": "Fuse"}]):
        return False
    rules = model.rules
    if not rules.escape_whitespaces or rules.remove_extra_whitespaces or SPACE not in model.pieces:
        return False
    drops = steps[0]["prepend_scheme"] != "never"
    return drops == rules.add_dummy_prefix and not (drops and any(SPACE in piece[1:] for piece in model.pieces))


def _escaping(normalizers: Sequence[Json]) -> list[Json]:
    """Return the steps of the normalizer and then the one that `Metaspace` does, in a piece model's spelling."""
    steps = list(normalizers[:-1] if normalizers and normalizers[-1] == _ESCAPE else normalizers)
    if steps and steps[-1] == {"type": "Prepend", "prepend": " "}:
        steps[-1] = {"type": "Prepend", "prepend": SPACE}
    return [*steps, dict(_ESCAPE)]


def _prepends(normalizers: Sequence[Json]) -> bool:
    """Whether every text begins with "▁" when the normalizer, which ends with the escape of spaces, is done."""
    return len(normalizers) > 1 and normalizers[-2] == {"type": "Prepend", "prepend": SPACE}


def _sought_in_raw_text(token: Json, vocabulary: Vocabulary) -> Json:
    """Return an added token that isn't sought behind the new normalizer, if there was none before."""
    return token | {"normalized": False} if vocabulary.normalizer is None else token


def _refuse_prefix(vocabulary: Vocabulary, whole: Json, target: str) -> None:
    steps = steps_of(whole["normalizer"])
    prefixed = [*steps[:-1], {"type": "Prepend", "prepend": SPACE}, steps[-1]]
    other = Tokenizer.from_json(json.dumps(whole | {"normalizer": in_a_row(prefixed, "normalizers")}))
    text = _different(vocabulary.core, other, _PROBES) or " "
    why = refusal(target, "pre_tokenizer 'Metaspace' adds no space before a text that begins with one", text)
    raise ConversionError(
        f"{why} A vocabulary that is trained with normalizer={{'type': 'Prepend', 'prepend': '▁'}} can go there, and "
        "one with the prepend_scheme 'never'."
    )


def _check_cuts(vocabulary: Vocabulary, same: Tokenizer, target: str) -> None:
    """Raise if some piece is made across a place where `Metaspace` cuts, or if unknown characters are joined there."""
    if vocabulary.core.token_to_id(SPACE) is None and not vocabulary.byte_fallback:
        raise refusal(target, f"{SPACE!r} is no token, and 'Metaspace' keeps unknown spaces apart", "  ")
    crossing = sorted({left + right for left, right in vocabulary.merges if SPACE in (left + right)[1:]}, key=len)
    if not crossing:
        return
    rows = _merging(same).encode_ordinary_batch(crossing)
    ids = vocabulary.core.tokens_to_ids(crossing)
    made = [token for token, row, token_id in zip(crossing, rows, ids, strict=True) if row == [token_id]]
    if made:
        texts = [token.removeprefix(SPACE).replace(SPACE, " ") for token in made]
        text = _different(vocabulary.core, same, [*_PROBES, *texts]) or texts[0]
        reason = f"pre_tokenizer 'Metaspace' cuts texts before spaces, and such a model makes the token {made[0]!r}"
        raise refusal(target, reason, text)


def _merging(core: Tokenizer) -> Tokenizer:
    whole = json.loads(core.to_json(pretty=False))
    model = whole["model"] | {"ignore_merges": False}
    return Tokenizer.from_json(json.dumps(whole | {"normalizer": None, "added_tokens": [], "model": model}))


def _different(first: Tokenizer, second: Tokenizer, texts: Sequence[str]) -> str | None:
    return differences.find(differences.encoder(first), differences.encoder(second), texts)
