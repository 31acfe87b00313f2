"""New rows: where they come from, and how those are made that no old token has."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from embedding_models import extended, numbers, old_tokenizer

from hf_bpe import HfBpeTokenizer
from hf_bpe.embeddings import plan_rows, resize_rows

INITS = ["mean_of_parts", "mean", "normal", "zeros"]


@pytest.fixture(scope="module")
def old() -> HfBpeTokenizer:
    return old_tokenizer()


@pytest.fixture(scope="module")
def new(old: HfBpeTokenizer) -> HfBpeTokenizer:
    the, cat = "Ġthe", "Ġcat"
    return extended(old, (the, cat), (the + cat, the), ("z", "z"), ("zz", "q"))


def test_old_rows_keep_their_bits_and_new_ones_are_means_of_old_pieces(
    old: HfBpeTokenizer, new: HfBpeTokenizer
) -> None:
    rows = numbers(len(old), 8)

    out = resize_rows(rows, plan_rows(old, new, num_old_rows=len(old)))

    assert out.shape == (len(old) + 4, 8)
    np.testing.assert_array_equal(out[: len(old)], rows)
    pieces = [old.convert_tokens_to_ids(token) for token in ("Ġthe", "Ġcat", "Ġthe")]
    mean = rows[pieces].astype(np.float64).mean(axis=0)
    made = out[new.convert_tokens_to_ids("ĠtheĠcatĠthe")]
    np.testing.assert_allclose(made / np.linalg.norm(made), mean / np.linalg.norm(mean), atol=1e-6)


def test_pieces_of_a_new_token_are_those_that_the_old_tokenizer_gives_for_its_text(
    old: HfBpeTokenizer, new: HfBpeTokenizer
) -> None:
    plan = plan_rows(old, new, num_old_rows=len(old))

    for token_id, parts in plan.parts.items():
        assert b"".join(map(old.get_token_bytes, parts)) == new.get_token_bytes(token_id)
    assert plan.parts[new.convert_tokens_to_ids("zzq")] == tuple(old.encode_ordinary("zzq"))


def test_an_added_token_is_made_of_the_pieces_of_its_text(old: HfBpeTokenizer) -> None:
    new = extended(old)
    new.add_tokens(["<tool>"])

    plan = plan_rows(old, new, num_old_rows=len(old))

    assert plan.parts == {len(old): tuple(old.encode_ordinary("<tool>"))}


def test_new_ids_in_rows_that_were_padding_are_made_too(old: HfBpeTokenizer, new: HfBpeTokenizer) -> None:
    rows = numbers(len(old) + 10, 8)

    plan = plan_rows(old, new, num_old_rows=len(rows))
    out = resize_rows(rows, plan)

    assert out.shape == rows.shape
    assert set(plan.parts) == set(range(len(old), len(new)))
    assert not np.any(np.all(out[len(old) : len(new)] == rows[len(old) : len(new)], axis=1))
    np.testing.assert_array_equal(out[len(new) :], rows[len(new) :])


def test_tokens_that_moved_take_their_rows_along(old: HfBpeTokenizer) -> None:
    """A smaller vocabulary: the last of the learned tokens and one byte less, the others close up."""
    import json

    from hf_bpe.vocabulary import Vocabulary

    content = json.loads(old._core.to_json())
    model = content["model"]
    gone = "".join(model["merges"][-1])
    model["merges"].pop()
    kept = [token for token in sorted(model["vocab"], key=model["vocab"].__getitem__) if token != gone]
    model["vocab"] = {token: number for number, token in enumerate(kept)}
    content["added_tokens"][0]["id"] = model["vocab"].get("<|end|>", len(kept))
    new = HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(content))
    rows = numbers(len(old), 8)

    plan = plan_rows(old, new, num_old_rows=len(rows))
    by_map = plan_rows(
        old,
        new,
        num_old_rows=len(rows),
        id_map={i: new.convert_tokens_to_ids(t) for t, i in old.get_vocab().items() if t != gone},
    )

    assert plan.parts == {}
    assert len(plan.copied) == len(old) - 1
    np.testing.assert_array_equal(plan.copied, by_map.copied)
    out = resize_rows(rows, plan)
    for token, token_id in new.get_vocab().items():
        np.testing.assert_array_equal(out[token_id], rows[old.get_vocab()[token]])


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_norms_of_new_rows_stay_in_the_range_of_the_old_ones(
    init: str, dtype: type, old: HfBpeTokenizer, new: HfBpeTokenizer
) -> None:
    rows = numbers(len(old), 32, dtype=dtype)

    out = resize_rows(rows, plan_rows(old, new, num_old_rows=len(old), pad_to_multiple_of=64), init=init)  # type: ignore[arg-type]

    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    made = np.linalg.norm(out[len(old) :].astype(np.float64), axis=1)
    assert out.dtype == rows.dtype
    assert len(out) % 64 == 0
    if init == "zeros":
        assert not made.any()
    else:
        assert (made >= norms.min() * 0.99).all()
        assert (made <= norms.max() * 1.01).all()


def test_drawn_rows_depend_on_the_seed_and_their_id_alone(old: HfBpeTokenizer, new: HfBpeTokenizer) -> None:
    rows = numbers(len(old), 8)
    plan, longer = (plan_rows(old, new, num_old_rows=len(old), pad_to_multiple_of=n) for n in (1, 512))

    one, same, other = (resize_rows(rows, plan, init="normal", seed=seed) for seed in (1, 1, 2))

    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(resize_rows(rows, longer, init="normal", seed=1)[: len(one)], one)


def test_a_bias_follows_too(old: HfBpeTokenizer, new: HfBpeTokenizer) -> None:
    bias = numbers(len(old))
    plan = plan_rows(old, new, num_old_rows=len(old))

    out = resize_rows(bias, plan)

    zz = new.convert_tokens_to_ids("zz")
    assert out[zz] == np.float32(bias[list(plan.parts[zz])].astype(np.float64).mean())


def test_bad_arguments_are_named(old: HfBpeTokenizer, new: HfBpeTokenizer) -> None:
    plan = plan_rows(old, new, num_old_rows=len(old))
    rows = numbers(len(old), 4)

    with pytest.raises(ValueError, match="init is one of mean_of_parts, mean, normal, zeros, got 'median'"):
        resize_rows(rows, plan, init="median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got int8"):
        resize_rows(rows.astype(np.int8), plan)
    with pytest.raises(ValueError, match=r"shape \(rows, dimensions\) or \(rows,\), got \(1, "):
        resize_rows(rows[None], plan)
    with pytest.raises(ValueError, match="there are 5 rows"):
        resize_rows(rows[:5], plan)
    with pytest.raises(ValueError, match="it is not the tokenizer of this model"):
        plan_rows(old, new, num_old_rows=10)
    with pytest.raises(ValueError, match="pad_to_multiple_of must be at least 1, got 0"):
        plan_rows(old, new, num_old_rows=len(old), pad_to_multiple_of=0)
    for id_map, reason in (({9999: 1}, "moves id 9999"), ({1: 9999}, "to 9999"), ({1: 2, 3: 2}, "two ids to 2")):
        with pytest.raises(ValueError, match=reason):
            plan_rows(old, new, num_old_rows=len(old), id_map=id_map)


def test_a_row_without_numbers_does_not_spoil_new_ones(old: HfBpeTokenizer, new: HfBpeTokenizer) -> None:
    rows = numbers(len(old), 4)
    rows[7] = np.nan

    out = resize_rows(rows, plan_rows(old, new, num_old_rows=len(old)), init="mean")

    assert np.isfinite(np.delete(out, 7, axis=0)).all()
    assert np.isnan(out[7]).all()
