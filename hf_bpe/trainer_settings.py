"""The settings of a training, and what is wrong with them: everything here is told before a corpus is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from operator import index
from typing import Any, SupportsIndex

from hf_bpe.byte_alphabet import BYTE_TO_CHAR
from hf_bpe.errors import TrainingError

BYTE_TOKENS: tuple[str, ...] = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The tokens that spell a character outside the vocabulary, byte by byte, as SentencePiece writes them."""

MOST_THREADS = 1024
"""More than this take memory before the first text is read, and no machine has so many cores for them."""

_OPTIONAL_NUMBERS = ("max_token_length", "num_threads", "limit_alphabet", "max_digits", "pad_to_multiple_of")


@dataclass(frozen=True)
class TrainerSettings:
    """What the native trainer is told.

    Attributes:
        vocab_size: The number of tokens.
        special_tokens: Their contents, in the order of their ids.
        special_tokens_last: Whether they get the last ids.
        min_frequency: How often a pair has to occur to be merged.
        max_token_length: Merges of merged tokens are shorter than this.
        within_scripts: Whether merged tokens are of one script.
        max_digits: How many digits a merged token holds at most.
        characters: Whether words are cut into characters, not bytes.
        initial_alphabet: Characters that get an id, seen or not; None for all bytes, or no characters.
        limit_alphabet: How many characters get an id at most.
        continuing_subword_prefix: Written before every symbol but the first of a word.
        end_of_word_suffix: Written after the last symbol of a word.
        reserved_tokens: Tokens with the ids after the special ones, which no merge makes.
    """

    vocab_size: int
    special_tokens: Sequence[str] = ()
    special_tokens_last: bool = False
    min_frequency: int = 0
    max_token_length: int | None = None
    within_scripts: bool = False
    max_digits: int | None = None
    characters: bool = False
    initial_alphabet: Sequence[str] | None = None
    limit_alphabet: int | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    reserved_tokens: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise for a number out of range or an affix that is no text."""
        check_numbers(
            vocab_size=self.vocab_size,
            min_frequency=self.min_frequency,
            max_token_length=self.max_token_length,
            max_digits=self.max_digits,
            limit_alphabet=self.limit_alphabet,
        )
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            affix = getattr(self, name)
            if affix is not None and not isinstance(affix, str):
                raise TypeError(f"{name} is a str, got {affix!r}")
            check_text(name, affix or "")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the native trainer."""
        given = vars(self) | {"initial_alphabet": self.initial_alphabet and list(self.initial_alphabet)}
        specials = list(given.pop("special_tokens"))
        last = given.pop("special_tokens_last")
        given["reserved_tokens"] = list(self.reserved_tokens)
        given["special_tokens"] = [] if last else specials
        given["last_special_tokens"] = specials if last else []
        return given

    def check_room(self) -> None:
        """Raise when what is known before the corpus is read takes more than `vocab_size`.

        Raises:
            TrainingError: There is no room.
        """
        specials = set(self.special_tokens)
        alphabet = set(self.initial_alphabet or ()) if self.characters else set(BYTE_TO_CHAR.values())
        alphabet |= set(self.reserved_tokens)
        needed = len(alphabet | specials)
        if self.vocab_size < needed:
            others = needed - len(alphabet)
            unit = "first tokens" if self.characters else "bytes"
            raise TrainingError(
                f"vocab_size={self.vocab_size} is too small: "
                f"the {len(alphabet)} {unit} and {others} special tokens take {needed}"
            )


def check_numbers(**numbers: object) -> None:
    """Raise before the corpus is read, and not after.

    Raises:
        TypeError: An argument isn't a whole number.
        ValueError: A number is out of its range.
    """
    least_of = {"vocab_size": None, "num_threads": 1, "limit_alphabet": 1, "pad_to_multiple_of": 1}
    for name, number in numbers.items():
        least = least_of.get(name, 0)
        if number is None and name in _OPTIONAL_NUMBERS:
            continue
        if not isinstance(number, SupportsIndex):
            raise TypeError(f"{name} is a whole number, got {number!r}")
        if name == "num_threads" and index(number) > MOST_THREADS:
            raise ValueError(f"num_threads={number} is out of range; give at most {MOST_THREADS:,}")
        if (least is not None and index(number) < least) or index(number) >= 2**63:
            raise ValueError(f"{name}={number} is out of range" + ("" if least is None else f"; give at least {least}"))


def check_text(name: str, text: str) -> None:
    """Raise when `text` can't be written as UTF-8.

    Raises:
        ValueError: It holds a lone surrogate.
    """
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError(f"{name} {text!r} holds a lone surrogate, which is no character")


def characters_of(initial_alphabet: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the distinct characters of an initial alphabet: a str, or any strings of one character.

    Raises:
        ValueError: A string has none or several characters, or is no character.
        TypeError: There is something else among them.

    Example:
        >>> characters_of("abca")
        ('a', 'b', 'c')
    """
    if initial_alphabet is None:
        return None
    characters = tuple(dict.fromkeys(initial_alphabet))
    for character in characters:
        if not isinstance(character, str):
            raise TypeError(f"initial_alphabet holds characters, got {character!r}")
        if len(character) != 1:
            raise ValueError(f"initial_alphabet holds single characters, got {character!r}")
        check_text("initial_alphabet: the string", character)
    return characters


def padding_tokens(vocab: Sequence[str], multiple: int | None) -> list[str]:
    """Return `<|pad_0|>`, `<|pad_1|>` and so on, names that aren't taken: as many as make the vocabulary a multiple.

    Example:
        >>> padding_tokens(["a", "<|pad_0|>", "b"], 5)
        ['<|pad_1|>', '<|pad_2|>']
    """
    missing = -len(vocab) % multiple if multiple else 0
    taken = set(vocab)
    free = (name for number in count() if (name := f"<|pad_{number}|>") not in taken)
    return list(islice(free, missing))


def protected_strings(protected: Iterable[str]) -> tuple[str, ...]:
    """Return the strings that are to be tokens of their own, once each.

    Raises:
        TypeError: They are one str, or there is something else among them.
        ValueError: One is empty, or holds what is no character.
    """
    if isinstance(protected, str):
        raise TypeError(f"protected is a list of strings; write [{protected!r}]")
    strings = tuple(dict.fromkeys(protected))
    for string in strings:
        if not isinstance(string, str):
            raise TypeError(f"protected holds strings, got {string!r}")
        if not string:
            raise ValueError("a protected string is empty")
        check_text("the protected string", string)
    return strings
