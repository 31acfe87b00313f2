"""The groups of figures, one function each. Every figure is of one thread on one pinned core unless its row says so."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from benchmarks import corpora
from benchmarks.measuring import CLASS_NAMES, DIFFERENT, IDENTICAL, UNCHECKED, Bench, Crew, rates
from benchmarks.operations import digest_of_texts
from benchmarks.peers import REFERENCE
from benchmarks.workers import Worker, WorkerDied


def encoding(bench: Bench) -> None:
    """Flat arrays and lists, fresh and warm; lists with the first vocabulary only."""
    for place, vocabulary in enumerate(bench.plan.vocabularies):
        if vocabulary not in bench.folders:
            continue
        with bench.crew(vocabulary) as crew:
            for name, text in texts(bench, every_source=place == 0):
                for size, length in bench.plan.sizes:
                    _encode(crew, name, size, corpora.documents(text, length), lists=place == 0)


def _encode(crew: Crew, name: str, size: str, documents: list[str], *, lists: bool) -> None:
    crew.bench.say(f"encoding: {crew.vocabulary}, {name}, {size}")
    file = crew.bench.write("documents", documents)
    expected = crew.expected_ids(file)
    group = "custom" if crew.vocabulary == "gpt2-digits" else "encoding"
    for operation in ("flat", "lists") if lists else ("flat",):
        row = [crew.vocabulary, name, size, operation]
        rates(crew, group, row, operation, file, documents, expected, fresh=True)


def texts(bench: Bench, *, every_source: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each corpus: of the last source that there is, or of every one."""
    size = int(bench.plan.megabytes * 1e6)
    for kind in bench.plan.kinds:
        found = {}
        if "own" in bench.plan.sources:
            found[kind] = corpora.own(kind, size)
        if "handed" in bench.plan.sources and (text := corpora.handed(kind, size)):
            found[f"{kind} (handed)"] = text
        for name in list(found) if every_source else list(found)[-1:]:
            if found[name]:
                bench.texts[name] = len(found[name].encode())
                yield name, found[name]


def short(bench: Bench) -> None:
    """Microseconds for a call with about 50 bytes, a loop over many such strings."""
    with bench.crew(bench.plan.vocabularies[0]) as crew:
        for kind in ("english", "code"):
            _per_text(crew, "short", [kind, "encode one"], "each", _strings(bench, kind))


def classes(bench: Bench) -> None:
    """Microseconds a text through transformers' call: one by one, and in one batch."""
    vocabulary = bench.plan.vocabularies[0]
    strings = _strings(bench, "english")
    with Worker(REFERENCE, bench.folders[vocabulary]) as reference:
        reference.ask("load")
        answer = reference.ask("run", operation="lists", file=bench.write("strings", strings), digest=True)
    with bench.crew(vocabulary, kind="class") as crew:
        for row, operation in (("tokenizer(text)", "each"), (f"tokenizer(batch of {len(strings):,})", "lists")):
            _per_text(crew, "classes", [row], operation, strings, answer.get("digest"))


def _strings(bench: Bench, kind: str) -> list[str]:
    return corpora.short_strings(corpora.own(kind, 1_000_000), bench.plan.short)


def _per_text(
    crew: Crew, group: str, row: list[str], operation: str, strings: list[str], expected: str | None = None
) -> None:
    bench = crew.bench
    bench.say(f"{group}: {', '.join(row)}")
    file = bench.write("strings", strings)
    checked = crew.check(operation, file, expected or crew.expected_ids(file))
    samples: dict[str, list[float]] = {}
    for _ in range(bench.plan.rounds):
        for peer in checked:
            answer = crew.ask(peer, "run", operation=operation, file=file)
            if answer is not None:
                samples.setdefault(peer, []).append(answer["seconds"] / len(strings) * 1e6)
    for peer, values in samples.items():
        bench.add(group, row, peer, values, "us", checked[peer][0])


def decoding(bench: Bench) -> None:
    """Lists of ids to str: a call for each document, and one for all. What is right is the text."""
    with bench.crew(bench.plan.vocabularies[0]) as crew:
        for name, text in texts(bench):
            for size, length in bench.plan.sizes:
                documents = corpora.documents(text, length)
                file = bench.write("documents", documents)
                bench.say(f"decoding: {name}, {size}")
                for operation in ("decode", "decode_batch"):
                    row, expected = [name, size, operation], digest_of_texts(None, documents)
                    rates(crew, "decoding", row, operation, file, documents, expected, fresh=False)


def loading(bench: Bench) -> None:
    """Seconds and resident megabytes until a new process has its first ids, imports aside."""
    for vocabulary in (name for name in bench.plan.loaded if name in bench.folders):
        for kind, what in (("core", "core"), ("class", "AutoTokenizer")):
            # gigatoken's look-alike has no AutoTokenizer.
            able = bench.plan.peers if kind == "core" else [name for name in CLASS_NAMES if name != "gigatoken"]
            for peer in (name for name in bench.plan.peers if name in able):
                _load(bench, vocabulary, kind, what, peer)
            if find_spec("hf_bpe.compiled") and "hf_bpe" in bench.plan.peers:
                forms = bench.scratch / "forms"
                _load(bench, vocabulary, kind, f"{what}, compiled form", "hf_bpe", forms=str(forms))


def _load(bench: Bench, vocabulary: str, kind: str, what: str, peer: str, *, forms: str = "off") -> None:
    bench.say(f"loading: {vocabulary}, {what}, {peer}")
    answers = []
    for _ in range(bench.plan.rounds + (forms != "off")):
        with Worker(peer, bench.folders[vocabulary], kind=kind, forms=forms) as worker:
            try:
                answers.append(worker.ask("load"))
            except WorkerDied as error:
                bench.note(f"{peer}, {vocabulary}, load: {error}")
                return
    if forms != "off":
        answers = answers[1:]  # the first one wrote the form
    if answers and all("seconds" in answer for answer in answers):
        for key, unit, row in (("seconds", "s", "time"), ("megabytes", "MB", "memory")):
            values = [answer[key] for answer in answers]
            bench.add("loading", [vocabulary, what, row], peer, values, unit, UNCHECKED)


def odd_inputs(length: int) -> dict[str, str]:
    """Return the inputs on which some tokenizers take quadratic time, of so many characters."""
    draw = random.Random(7)
    chinese = "".join(char for char in corpora.own("chinese", 3 * length + 100_000) if "\u4e00" <= char <= "\u9fff")
    return {
        "one letter": "a" * length,
        "spaces": " " * length,
        "line ends": "\n" * length,
        "random bytes as Latin-1": "".join(map(chr, draw.choices(range(256), k=length))),
        "one Chinese character": "一" * length,
        "Chinese without a space": (chinese * (length // max(1, len(chinese)) + 1))[:length] if chinese else "",
        "random letters": "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=length)),
        "punctuation": "".join(draw.choices("=-*#~_.", k=length)),
    }


def odd(bench: Bench) -> None:
    """Nanoseconds a character of one long odd text, as a list of ids. A peer that takes 30 s for one is ended."""
    vocabulary = bench.plan.vocabularies[0]
    inputs, expected = odd_inputs(bench.plan.odd), dict[str, str]()
    for peer in (REFERENCE, *(peer for peer in bench.plan.peers if peer != REFERENCE)):
        bench.say(f"odd: {peer}")
        crew = None
        for name, text in inputs.items():
            if crew is None or not crew.workers:
                crew = _alone(bench, vocabulary, peer)
            _one_odd(crew, peer, name, text, expected)
        for worker in crew.workers.values() if crew else ():
            worker.close()


def _alone(bench: Bench, vocabulary: str, peer: str) -> Crew:
    crew = Crew(bench, vocabulary)
    crew.workers[peer] = Worker(peer, bench.folders[vocabulary])
    return crew


def _one_odd(crew: Crew, peer: str, name: str, text: str, expected: dict[str, str]) -> None:
    """Time one input, each time with caches that hold no more than a few words."""
    bench, values, digest = crew.bench, [], ""
    file = bench.write("odd", [text])
    for turn in range(bench.plan.rounds):
        crew.ask(peer, "load")
        answer = crew.ask(peer, "run", operation="each", file=file, digest=turn == 0, patience=30, label=name)
        if answer is None:
            return
        digest = answer.get("digest", digest)
        values.append(answer["seconds"] / max(1, len(text)) * 1e9)
    verdict = IDENTICAL if digest == expected.setdefault(name, digest) else DIFFERENT
    bench.add("odd", [name], peer, values, "ns", verdict)


def threads(bench: Bench) -> None:
    """Flat arrays on one thread and two, of small documents and of one long one. Two are timed by the wall."""
    name, text = next(texts(bench))
    long = (text * (int(bench.plan.long * 1e6 / len(text.encode())) + 1))[: int(bench.plan.long * 1e6)]
    small = corpora.documents(long[: len(long) // 4], 2_000)  # enough that waking a thread takes no part of it
    for count in (1, 2):
        with bench.crew(bench.plan.vocabularies[0], threads=count) as crew:
            for what, documents in (("2 KB", small), (f"one of {bench.plan.long:g} MB", [long])):
                bench.say(f"threads: {count}, {what}")
                file = bench.write("documents", documents)
                row, expected = [name, what, f"{count} thread{'s' * (count > 1)}"], crew.expected_ids(file)
                for _ in range(2):  # which thread gets which words differs: one pass doesn't warm the caches of both
                    crew.check("flat", file, expected)
                rates(crew, "threads", row, "flat", file, documents, expected, fresh=False)


def offsets(bench: Bench) -> None:
    """The same documents with offsets, without, and their ids only counted: what more costs, and less saves."""
    with bench.crew(bench.plan.vocabularies[0]) as crew:
        for name, text in texts(bench):
            documents = corpora.documents(text, 2_000)
            bench.say(f"offsets: {name}")
            file = bench.write("documents", documents)
            for operation in ("flat", "lists", "offsets", "count"):
                reference = "lengths" if operation == "count" else "lists"
                row, expected = [name, "2 KB", operation], crew.expected_ids(file, reference)
                rates(crew, "offsets", row, operation, file, documents, expected, fresh=False)


def custom(bench: Bench) -> None:
    """A split pattern that no library knows: GPT-2's with digits in pairs."""
    if "gpt2-digits" not in bench.folders:
        return
    with bench.crew("gpt2-digits") as crew:
        for name, text in texts(bench):
            _encode(crew, name, "2 KB", corpora.documents(text, 2_000), lists=True)


GROUPS: dict[str, Callable[[Bench], None]] = {
    "encoding": encoding,
    "short": short,
    "classes": classes,
    "decoding": decoding,
    "loading": loading,
    "odd": odd,
    "threads": threads,
    "offsets": offsets,
    "custom": custom,
}
"""By name, in the order of the tables."""
