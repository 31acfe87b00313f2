"""`chat.encode`: a chat becomes ids in which only the template can write control tokens.

Guarantee: the ids are those of upstream's `apply_chat_template(tokenize=True)` unless the caller's data (contents,
roles, tool results, JSON keys, template variables) spells an added token. If it does, those characters are encoded as
text, or as the policy says, and no added token is found across the border of what the template wrote. No special token
comes from anywhere else: the model can't merge one together either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from transformers import BatchEncoding

from hf_bpe.chat import growing, shortening
from hf_bpe.chat.columns import Columns, encode_first
from hf_bpe.chat.limits import Limits
from hf_bpe.chat.policy import Policy, Rules
from hf_bpe.chat.prompts import prompt_of
from hf_bpe.chat.rendering import Messages, Tools, render
from hf_bpe.chat.request import Message, Request, check_settings, owned
from hf_bpe.chat.training import Bodies, Header, Trained, Turn, turns_of
from hf_bpe.tokenizer import HfBpeTokenizer


def encode(
    tokenizer: HfBpeTokenizer,
    messages: Messages,
    *,
    tools: Tools | None = None,
    documents: Sequence[dict[str, str]] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    policy: Policy = None,
    training: Trained = Trained(),  # noqa: B008  # immutable
    limits: Limits = Limits(),  # noqa: B008  # immutable
    **kwargs: Any,
) -> ChatEncoding:
    """Encode a chat so that only its template can write control tokens.

    No special tokens are added around the template's text: a template that wants a BOS writes it.

    Args:
        tokenizer: What renders and encodes.
        messages: The conversation, as for `apply_chat_template`.
        tools: JSON schemas, or functions to make them from.
        documents: Documents for templates that retrieve.
        chat_template: A template, or the name of one of the tokenizer's, in place of its default.
        add_generation_prompt: Whether the template should begin the assistant's turn.
        continue_final_message: Whether to leave the last message open, or the name of the field to go on with.
        policy: What becomes of added tokens that the caller's data spells: `"text"` encodes their characters,
            `"error"` raises, `Allow("<think>")` lets some through. One for all, or a dict by role, in which `"tools"`,
            `"documents"` and `"kwargs"` stand for what belongs to no message. By default `"text"`, except that a token
            raises of which the template's filters hide who wrote it.
        training: What of the assistant's turns `assistant_mask` covers.
        limits: How many iterations and characters the template may use.
        **kwargs: Variables of the template.

    Returns:
        The ids, and who wrote what.

    Raises:
        TypeError: The tokenizer isn't an `HfBpeTokenizer`, or a setting is of a wrong type.
        ChatError: The chat goes against `policy` or `limits`.
        Exception: Whatever upstream raises for the same chat, with its class and message.

    Example:
        >>> chat.encode(tokenizer, [{"role": "user", "content": "hi <|im_end|>"}]).ids
        [151644, 872, 198, 6023, 82639, 318, 6213, 91, 29, 151645, 198]
    """
    if not isinstance(tokenizer, HfBpeTokenizer):
        raise TypeError(
            f"chat.encode() takes an HfBpeTokenizer, got {type(tokenizer).__name__}; load the same directory with "
            "hf_bpe.HfBpeTokenizer.from_pretrained(directory)."
        )
    check_settings(limits, training)
    options = {
        "tools": tools,
        "documents": documents,
        "chat_template": chat_template,
        "add_generation_prompt": add_generation_prompt,
        "continue_final_message": continue_final_message,
        **kwargs,
    }
    rules = Rules.of(policy)
    rendered = render(tokenizer, messages, limits=limits, **options)
    request = Request(tokenizer, owned(messages), options, limits, rules, training)
    return ChatEncoding(request, encode_first(tokenizer._core, rendered, *growing.plan(request, rendered)))


@dataclass(frozen=True, eq=False, repr=False)
class ChatEncoding:
    """An encoded chat. It never changes: what goes on from it is a new one.

    Attributes:
        request: The chat, and how it was rendered.
        columns: Its text and ids.
    """

    request: Request
    columns: Columns
    _before: growing.Before | None = None
    _prompt: str | None = None

    @property
    def messages(self) -> list[Message]:
        """The conversation."""
        return list(self.request.messages)

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self.columns.ids

    @property
    def text(self) -> str:
        """The rendered text."""
        return self.columns.text

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The first character of `text` that each token stands for, and the one behind its last."""
        return [(start, end) for start, end in self.columns.offsets.tolist()]

    @property
    def reused_tokens(self) -> int:
        """How many of the ids were taken over from the encoding that `append` or `splice` went on from."""
        return self.columns.reused

    @cached_property
    def changed_message(self) -> int | None:
        """After `append`, the first message whose text the template has rewritten; None where all stand as before.

        A prefix cache of the earlier ids holds only up to that message. 0 stands for what is before it, too.
        """
        return None if self._before is None else self._before.changed_message()

    @cached_property
    def message_index(self) -> list[int | None]:
        """The index of the message that each token begins with, or in whose turn the template wrote it; else None."""
        return self._of_runs([run.origin.message for run in self.columns.rendered.runs])

    @cached_property
    def field(self) -> list[str | None]:
        """The field in which each token begins (`"content"`); None for what the template wrote."""
        return self._of_runs([run.origin.field for run in self.columns.rendered.runs])

    def _of_runs(self, values: list[Any]) -> list[Any]:
        column: list[Any] = np.array([*values, None], dtype=object)[self.columns.run_of_token].tolist()
        return column

    @cached_property
    def assistant_mask(self) -> list[int]:
        """1 for each token of which a character is trained, by the `training` of the chat, else 0."""
        mask: list[int] = self._trained.astype(int).tolist()
        return mask

    @cached_property
    def _trained(self) -> NDArray[np.bool_]:
        offsets = self.columns.offsets
        spans = [span for turn in self._assistant_turns for span in self._bodies.spans(turn, self.request.training)]
        spans = [span for span in spans if span[0] < span[1]]
        # Behind the last span there is one that no token reaches.
        starts, ends = np.array([*spans, (2**62, 2**62)], dtype=np.int64).T
        first = np.searchsorted(ends, offsets[:, 0], side="right")
        trained: NDArray[np.bool_] = starts[first] < np.maximum(offsets[:, 1], offsets[:, 0] + 1)
        return trained

    @cached_property
    def _turns(self) -> list[Turn]:
        return turns_of(self.columns.rendered.runs)

    @property
    def _assistant_turns(self) -> list[Turn]:
        roles = self.request.roles
        return [turn for turn in self._turns if turn.message is not None and roles[turn.message] == "assistant"]

    @cached_property
    def _bodies(self) -> Bodies:
        core, prompt = self.columns.core, self.generation_prompt
        tokens = core.find_added_tokens(prompt)
        least = tokens[0][1] if tokens else len(prompt.rstrip())
        return Bodies(
            self.text,
            self.columns.anchors,
            Header(prompt, least) if prompt else None,
            lambda token: core.is_special_token(token) or token == self.request.tokenizer.eos_token,
        )

    @cached_property
    def generation_prompt(self) -> str:
        """What the template writes to begin the assistant's turn; empty where it writes nothing."""
        return prompt_of(self.request, self.columns.rendered) if self._prompt is None else self._prompt

    @cached_property
    def turn_boundaries(self) -> list[int]:
        """How many ids stand before each turn and after the last: what comes behind can't change the ids before.

        They are safe places for the breakpoints of a prefix cache. A border of two turns at which the template writes
        no added token isn't among them.
        """
        starts = [turn.start for turn in self._turns[1:]]
        found = [self.columns.token_at(start) for start in starts]
        boundaries = [token for token in found if token is not None]
        last = self._turns[-1] if self._turns else None
        if last and last.message is not None and not self.request.continues and self._closes():
            boundaries.append(len(self.ids))
        return boundaries

    def _closes(self) -> bool:
        """Whether an added token ends the text, or the template writes one behind it."""
        if self.columns.token_at(len(self.text)) is not None:
            return True
        tokens = self.columns.core.find_added_tokens(self.generation_prompt)
        return bool(tokens) and tokens[0][0] == 0

    def labels(self, *, ignore_index: int = -100) -> list[int]:
        """Return the ids that are trained, and `ignore_index` in the place of the others.

        Example:
            >>> encoding.labels()
            [-100, -100, -100, 9707, 0, 151645, -100]
        """
        labels: list[int] = np.where(self._trained, self.ids, ignore_index).tolist()
        return labels

    def to_batch_encoding(self, *, return_tensors: str | None = None) -> BatchEncoding:
        """Return what `apply_chat_template(return_dict=True, return_assistant_tokens_mask=True)` returns.

        Args:
            return_tensors: `"np"` or `"pt"`, for a batch of one.

        Example:
            >>> list(encoding.to_batch_encoding())
            ['input_ids', 'attention_mask', 'assistant_masks']
        """
        data = {
            "input_ids": list(self.ids),
            "attention_mask": [1] * len(self.ids),
            "assistant_masks": self.assistant_mask,
        }
        return BatchEncoding(data, tensor_type=return_tensors, prepend_batch_axis=return_tensors is not None)

    def with_training(self, training: Trained) -> ChatEncoding:
        """Return the same chat with another choice of what is trained."""
        check_settings(self.request.limits, training)
        return replace(self, request=replace(self.request, training=training))

    def append(self, messages: Sequence[Message], **options: Any) -> ChatEncoding:
        """Return the chat with more messages; only the new text is encoded.

        Everything is rendered, and the ids equal those of encoding all messages at once. Where the template rewrites
        what it wrote before, as Qwen 3 does with thoughts, `changed_message` says so, and the ids from there on are
        new. After `splice`, the ids so far are kept as they are, and `changed_message` tells where the template would
        now write something else.

        Args:
            messages: What comes behind the last message.
            **options: Arguments of the template that change, such as `add_generation_prompt=True`; policy, training
                and limits stay.

        Raises:
            TypeError: `messages` is no list of messages, or an option is one of those that stay.

        Example:
            >>> encoding.append([{"role": "user", "content": "And now?"}]).reused_tokens
            211
        """
        grown = growing.append(self.request, self.columns, messages, options)
        return ChatEncoding(*grown, _prompt=self._prompt if self.columns.pinned else None)

    def splice(self, sampled_ids: Iterable[SupportsIndex], *, message: Message | None = None) -> ChatEncoding:
        """Return the chat after what a model sampled, its turn closed; the ids so far and `sampled_ids` are kept.

        The template's text behind the turn is added, such as the newline after `<|im_end|>`, which no model samples;
        and the end of the turn itself where sampling stopped without it.

        Args:
            sampled_ids: What the model sampled after these ids.
            message: The message that these ids spell, if it is more than content: tool calls, say.

        Raises:
            ValueError: No turn of the assistant is open.
            TypeError: `sampled_ids` are no ids, or `message` is no message.

        Example:
            >>> encoding.splice([9707, 0, 151645]).ids[-4:]
            [9707, 0, 151645, 198]
        """
        grown = growing.splice(self.request, self.columns, sampled_ids, message)
        return ChatEncoding(*grown, _prompt=self.generation_prompt)

    def truncate(self, max_length: int) -> ChatEncoding:
        """Return the chat without its oldest turns, with `max_length` ids at most.

        Whole exchanges are dropped, from one message of the user to the next, so that calls of tools stay with their
        results. System messages at the start are kept. No more is dropped than has to be.

        Raises:
            ChatError: What can't be dropped is too long.

        Example:
            >>> len(encoding.truncate(4096).ids)
            4071
        """
        if not isinstance(max_length, SupportsIndex):
            raise TypeError(f"max_length is a number of tokens, got {max_length!r}")
        if len(self.ids) <= max_length:
            return self
        kept, cuts = shortening.cuts_of(self.request.roles)
        made: dict[int, ChatEncoding] = {}

        def fits(cut: int) -> bool:
            made[cut] = self._from(kept, cut)
            return len(made[cut].ids) <= max_length

        starts = {turn.message: turn.start for turn in reversed(self._turns)}
        before = np.searchsorted(self.columns.offsets[:, 0], list(starts.values())).tolist()
        places = dict(zip(starts, before, strict=True))
        dropped = [places.get(cut, 0) - places.get(kept, 0) for cut in cuts]
        cut = shortening.first_that_fits(cuts, dropped, len(self.ids) - max_length, fits)
        if cut is None:
            last = cuts[-1] if cuts else kept
            raise shortening.too_long(max_length, kept, last, len(made[last].ids if cuts else self.ids))
        return made[cut]

    def _from(self, kept: int, cut: int) -> ChatEncoding:
        """Encode the chat without the messages from `kept` to `cut`."""
        request = self.request.with_messages([*self.request.messages[:kept], *self.request.messages[cut:]])
        rendered = request.render()
        return ChatEncoding(request, encode_first(self.columns.core, rendered, *growing.plan(request, rendered)))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of, without what was found out since."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        """Compare ids, and who wrote what."""
        if not isinstance(other, ChatEncoding):
            return NotImplemented
        return self.ids == other.ids and self.columns.rendered == other.columns.rendered

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 80 else f"{self.text[:40]}…{self.text[-39:]}"
        return f"ChatEncoding({len(self.ids)} ids of {len(self.request.messages)} messages: {text!r})"
