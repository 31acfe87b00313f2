"""`card` and `hf-bpe card`: every section is there, figures are measured, and no text of a tokenizer is markup."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard
from libraries import small

from hf_bpe import ConversionError, HfBpeTokenizer, card, fingerprint, measure, train
from hf_bpe._native import Tokenizer
from hf_bpe.cards import About, markdown, read_about
from hf_bpe.cards.unicode_versions import compositions_of, letters_of
from hf_bpe.vocabulary import Vocabulary

COMMAND = [sys.executable, "-c", "from hf_bpe.cli import main; main()", "card"]
HEADINGS = [
    *("Purpose", "Training data", "Normalizer", "Split pattern", "Unicode versions", "Ties", "Sizes and padding"),
    *("Special tokens", "Chat template", "Tokens by language", "Numbers", "What the vocabulary holds"),
    *("Other engines", "Fingerprint", "Loading", "Licence"),
]
ABOUT = About("me/it", "Tests.", "A few words.", "All of them.", "apache-2.0", ("en", "zh"), "me/old", ("test",))


def tokenizer(**settings: Any) -> HfBpeTokenizer:
    """Return a small tokenizer."""
    return HfBpeTokenizer.from_vocabulary(small(), **settings)


def section(text: str, heading: str) -> str:
    """Return what stands under a heading."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of each table."""
    lines = re.split(r"\n(?!\|)", text)
    found = [line.strip().split("\n") for line in lines if line.strip().startswith("|")]
    return [[re.split(r"(?<!\\)\|", row)[1:-1] for row in table] for table in found]


def test_a_card_has_every_section_and_its_front_matter() -> None:
    made = str(card(tokenizer(), {"English": ["the cat"]}, about=ABOUT))

    assert re.findall(r"^## (.*)$", made, flags=re.M) == HEADINGS
    read = ModelCard(made).data.to_dict()
    assert read == {
        "language": ["en", "zh"],
        "license": "apache-2.0",
        "library_name": "transformers",
        "base_model": "me/old",
        "tags": ["tokenizer", "bpe", "hf_bpe", "test"],
    }
    for said in ("# me/it", "Tests.", "A few words.", "**Sampling.** All of them.", 'from_pretrained("me/it")'):
        assert said in made


def test_what_nobody_states_is_said_to_be_not_stated() -> None:
    made = str(card(tokenizer()))

    assert made.count("Not stated.") == 4
    assert "license" not in ModelCard(made).data.to_dict()


def test_figures_are_those_of_the_measures() -> None:
    it, texts = tokenizer(pad_token="<|end|>"), {"English": ["the cat sat"], "Chinese": ["你好"]}

    made = str(card(it, texts))

    counted = measure.fertility(it, texts)
    rows = {row[0].strip(): [cell.strip() for cell in row] for table in tables(made) for row in table}
    assert rows["Chinese"][3] == f"{counted.by_source['Chinese'].tokens}" == "5"
    assert rows["tokens"][1] == f"{len(it)}"
    assert rows["the same, padded to a multiple of 128"][1] == "384"
    assert rows["300"][1:] == ["`<\\|end\\|>`", "yes", "pad"]
    assert fingerprint(it) in section(made, "Fingerprint")
    assert "padded on the right with `<|end|>`" in made
    assert "`tokenizers` 0.23: the same ids" in section(made, "Other engines")


def test_each_row_of_each_table_has_as_many_cells_as_its_head() -> None:
    it = tokenizer()
    it.add_tokens(["a|b", "`|`", "</script>", "x\ny", "*b*"])
    names = {"a|b": ["x"], "<i>*_[": ["y"], "`": ["z"], "new\nline": ["a"]}

    made = str(card(it, names, about=About(name="<i>|*")))

    assert len(tables(made)) > 5
    for table in tables(made):
        assert {len(row) for row in table} == {len(table[0])}
    outside = re.sub(r"^(`{3,}).*?^\1$|`[^`\n]*`", "", made, flags=re.S | re.M)
    assert not re.search(r"(?<!\\)<i>|</script>", outside)


def test_a_chat_is_rendered_by_the_template() -> None:
    it = tokenizer()
    it.chat_template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[go]```"

    found = section(str(card(it)), "Chat template")

    assert "````\n[system]Answer in one word.[user]What is the capital of France?[assistant]Paris.[user]" in found
    assert "And of Japan?[go]```\n````" in found


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content }}",
            "capital",
        ),
        ("{{ raise_exception('never') }}", "The template doesn't render plain messages: never"),
        ({"default": "one", "tools": "two"}, "There are several: `default`, `tools`. Of the default one:"),
        (None, "None: the tokenizer is for plain text."),
    ],
    ids=["no system", "no messages", "several", "none"],
)
def test_templates_that_are_odd_are_told_of(template: Any, said: str) -> None:
    it = tokenizer()
    it.chat_template = template

    assert said in section(str(card(it)), "Chat template")


def test_pipes_are_escaped_in_tables_alone_and_ampersands_everywhere() -> None:
    cells = [markdown.code("<|end|>"), markdown.text("a|b &lt; c")]

    assert cells == ["`<|end|>`", r"a|b \&lt; c"]
    assert markdown.rows(["a|b", "c"], [cells]).splitlines() == [
        r"| a\|b | c |",
        "|---|---|",
        r"| `<\|end\|>` | a\|b \&lt; c |",
    ]


def test_a_vocabulary_of_characters_has_a_card() -> None:
    it = train(["низкий ниже"] * 9, vocab_size=272, alphabet="characters", byte_fallback=True, progress=False)

    made = str(card(it, ["ниже"]))

    assert "tokenizer of characters: " in made
    assert "tiktoken: can't hold this vocabulary, whose tokens are of characters." in made
    assert '`{"type": "Metaspace"' in section(made, "Split pattern").replace('{"prepend', '{"type": "Metaspace"')


def test_where_stock_gives_other_ids_a_card_says_so() -> None:
    data = json.loads(small().core.to_json())
    data["added_tokens"].append(data["added_tokens"][0] | {"content": "<far>", "id": 1_000})
    it = HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(json.dumps(data)))

    found = section(str(card(it)), "Other engines")

    assert "`tokenizers` 0.23: other ids, such as for `<far>`." in found
    assert "| ids below the highest that no token has |" in found


def test_an_id_that_is_too_high_to_compare_is_no_failure() -> None:
    data = json.loads(small().core.to_json())
    data["model"]["vocab"]["The"] = 10**8
    it = HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(json.dumps(data)))

    found = section(str(card(it)), "Other engines")

    assert "`tokenizers` 0.23: not compared. tokenizers 0.23" in found


def test_a_tokenizer_with_dropout_has_no_card() -> None:
    data = json.loads(small().core.to_json())
    data["model"]["dropout"] = 0.25

    with pytest.raises(ValueError, match=r"card\(\): this tokenizer has a dropout of 0.25"):
        card(HfBpeTokenizer.from_vocabulary(Vocabulary.from_json(json.dumps(data))))


def test_versions_of_unicode_are_found_by_what_a_tokenizer_does() -> None:
    plain = small().core
    composed = train(["aa"] * 3, vocab_size=257, normalizer="NFC", progress=False)._core
    whole = Vocabulary.from_ranks(
        {bytes([byte]): byte for byte in range(256)}, split_pattern="[a-z]+|.", added_tokens={}
    )

    assert letters_of(plain) == "16.0"
    assert letters_of(whole.core) is None
    assert compositions_of(plain) is None
    assert compositions_of(composed) == ("6.1", "13.0")
    assert isinstance(plain, Tokenizer)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "about.json is no JSON"),
        ("[]", "found no object; the facts of a card are 'name', 'purpose'"),
        ('{"licence": "mit"}', "found 'licence'; the facts of a card are"),
        ('{"license": 3}', "'license' is a string, got 3"),
        ('{"languages": "en"}', "'languages' is a list of strings, got 'en'"),
    ],
)
def test_facts_that_are_none_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "about.json").write_text(content, encoding="utf-8")

    with pytest.raises(ConversionError, match=message):
        read_about(tmp_path / "about.json")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run `hf-bpe card` in a process of its own."""
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, timeout=120, check=False)


def test_the_command_writes_the_card_of_a_directory(tmp_path: Path) -> None:
    tokenizer().save_pretrained(tmp_path / "it")
    (tmp_path / "a.txt").write_text("the cat\n", encoding="utf-8")
    (tmp_path / "about.json").write_text('{"purpose": "Tests.", "license": "mit"}', encoding="utf-8")
    options = ("--corpus", tmp_path / "a.txt", "--about", tmp_path / "about.json", "--license", "apache-2.0")

    first = run(tmp_path / "it", *options, "-o", tmp_path / "it" / "README.md")
    second = run(tmp_path / "it", *options)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    made = (tmp_path / "it" / "README.md").read_text(encoding="utf-8")
    about = About(name="it", purpose="Tests.", license="apache-2.0")
    assert made == second.stdout.decode() == str(card(tmp_path / "it", {"a.txt": ["the cat\n"]}, about=about))


def test_the_command_leaves_nothing_when_it_fails(tmp_path: Path) -> None:
    tokenizer().save_pretrained(tmp_path / "it")
    (tmp_path / "b.txt").write_bytes(b"\xff\0")

    result = run(tmp_path / "it", "--corpus", tmp_path / "b.txt", "-o", tmp_path / "out.md")

    assert result.returncode == 1
    assert b"isn't UTF-8" in result.stderr
    assert not (tmp_path / "out.md").exists()
