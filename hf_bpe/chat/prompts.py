"""How the assistant's turn begins: what the template writes when it is asked for a generation prompt."""

from __future__ import annotations

from hf_bpe.chat.rendered import Origin, Rendered
from hf_bpe.chat.request import Request

PROMPT = Origin(trusted=True)
"""Who writes the header of the assistant's next turn: the template, after the last message."""


def prompt_of(request: Request, rendered: Rendered) -> str:
    """Return the generation prompt of a chat, or of what stands before its first answer; "" if none is known."""
    if request.prompts and (prompt := written_last(rendered)):
        return prompt
    first = next((at for at, role in enumerate(request.roles) if role == "assistant"), None)
    chats = [request.messages[:first]] if first else []
    return next((prompt for chat in [*chats, request.messages] if (prompt := _asked_for(request, chat))), "")


def _asked_for(request: Request, messages: tuple[object, ...]) -> str:
    """Return what the template adds to a chat for generation; "" if it adds nothing, or refuses the chat."""
    try:
        prompted, plain = (
            request.render(messages, add_generation_prompt=asked, continue_final_message=False)  # type: ignore[arg-type]
            for asked in (True, False)
        )
    except Exception:  # a template may want the roles in another order
        return ""
    if prompted.text == plain.text:
        return ""
    if prompted.text.startswith(plain.text):
        return prompted.text[len(plain.text) :]
    return written_last(prompted)


def written_last(rendered: Rendered) -> str:
    """Return what the template wrote after the last message."""
    start = len(rendered.text)
    for run in reversed(rendered.runs):
        if run.origin != PROMPT:
            break
        start = run.start
    return rendered.text[start:]
