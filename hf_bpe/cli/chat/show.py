"""`hf-bpe chat show`: the text that a template makes of messages, who wrote which part of it, ids and mask."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hf_bpe.cli.chat.inputs import STDIN, read_chat, read_template, read_tools, variable
from hf_bpe.cli.chat.tokens import coloured, legend, lines_of_tokens
from hf_bpe.cli.encode import Directory, load
from hf_bpe.cli.output import json_line, message, printable, reported_failures, write
from hf_bpe.cli.output import show as show_in_colours

if TYPE_CHECKING:
    from hf_bpe.chat.checking import Finding

_EXAMPLES = """
Examples:

    hf-bpe chat show my-tokenizer messages.json

    hf-bpe chat show my-tokenizer messages.json --show --generation-prompt

    hf-bpe chat show my-tokenizer request.json --check --json

Exit codes: 0 done, 1 failed, or --check found warnings or errors, 2 wrong usage.
"""

_TAKEN = {
    "chat": "; messages come from the file",
    "limits": "",
    "messages": "; they come from the file",
    "policy": "",
    "tokenizer": "",
    "tools": "; give a file with --tools",
    "training": "",
}
"""Names that mean something else to the functions that render, and what to do for those that do something."""

Messages = Annotated[
    str,
    typer.Argument(
        metavar="MESSAGES",
        help="A JSON file: a list of messages, or an object with messages and tools; - or nothing reads stdin.",
        show_default=False,
    ),
]
Tools = Annotated[Path | None, typer.Option("--tools", metavar="FILE", help="A JSON file with a list of tools.")]
Template = Annotated[
    str | None,
    typer.Option("--template", metavar="FILE|NAME", help="Another template: a file, or a name such as qwen3."),
]
Prompt = Annotated[bool, typer.Option("--generation-prompt", help="Begin the assistant's turn at the end.")]
Continue = Annotated[bool, typer.Option("--continue-final-message", help="Leave the last message open.")]
Set = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A variable of the template; VALUE may be JSON.", show_default=False
    ),
]
Show = Annotated[
    bool, typer.Option("--show", help="Show each token: its id, who wrote it, where it is from, the mask.")
]
Json = Annotated[bool, typer.Option("--json", help="Print text, ids, origins, mask and findings as a line of JSON.")]
Check = Annotated[bool, typer.Option("--check", help="Print what the template changes or loses, and nothing else.")]


def show(
    directory: Directory,
    messages: Messages = STDIN,
    tools: Tools = None,
    template: Template = None,
    generation_prompt: Prompt = False,
    continue_final_message: Continue = False,
    variables: Set = [],  # noqa: B006
    show: Show = False,
    json: Json = False,
    check: Check = False,
) -> None:
    """Print the text that the template makes of a chat, in colours by who wrote it. Warnings go to stderr."""
    if show and (json or check):
        raise typer.BadParameter("--show goes with neither --json nor --check")
    given = dict(variable(assignment) for assignment in variables)
    if taken := sorted(given.keys() & _TAKEN):
        raise typer.BadParameter(f"--set {taken[0]}: that is no variable of a template{_TAKEN[taken[0]]}")
    with reported_failures():
        chat, chat_tools, options = read_chat(messages)
        chat_tools = read_tools(str(tools)) if tools is not None else chat_tools
        tokenizer = load(directory)
        if template is not None:
            options["chat_template"] = read_template(tokenizer, template)
            _warn_of_missing_tokens(tokenizer, template)
        options |= {"add_generation_prompt": True} if generation_prompt else {}
        options |= {"continue_final_message": True} if continue_final_message else {}
        _show(tokenizer, chat, chat_tools, options | given, show=show, json=json, check=check)


show.__doc__ = f"{show.__doc__}\n\n\b{_EXAMPLES}"


def _warn_of_missing_tokens(tokenizer: Any, template: str) -> None:
    from hf_bpe.chat import families, templates

    if template not in templates.NAMES or Path(template).is_file():
        return
    known = tokenizer.get_added_vocab()
    missing = [token for token in families.family(template).special_tokens if token not in known]
    if missing:
        message(f"warning: no tokens here, so cut into pieces: {' '.join(missing)}. chat.install() adds them.")


def _show(
    tokenizer: Any, chat: list[Any], tools: Any, options: dict[str, Any], *, show: bool, json: bool, check: bool
) -> None:
    from hf_bpe.chat.checking import check as findings_of

    findings = findings_of(tokenizer, chat, tools, **options)
    refused = next((finding for finding in findings if finding.kind == "refused"), None)
    if check:
        _print_findings(findings, json=json)
        if any(finding.level != "note" for finding in findings):
            raise typer.Exit(1)
        return
    if refused is not None:
        raise ValueError(f"{refused.place}: {refused.explanation}: {_reason(tokenizer, chat, tools, options)}")
    if json:
        write(json_line(_as_json(tokenizer, chat, tools, options, findings)) + "\n")
    elif show:
        _print_tokens(tokenizer, chat, tools, options)
    else:
        _print_text(tokenizer, chat, tools, options)
    for finding in findings:
        if finding.level != "note":
            message(str(finding))


def _reason(tokenizer: Any, chat: list[Any], tools: Any, options: dict[str, Any]) -> str:
    try:
        tokenizer.apply_chat_template(chat, tools=tools, tokenize=False, **options)
    except Exception as error:
        return str(error)
    return "it did when it was checked"


def _print_findings(findings: list[Finding], *, json: bool) -> None:
    if json:
        write(json_line([finding.as_json() for finding in findings]) + "\n")
        return
    for finding in findings:
        write(f"{printable(str(finding))}\n")
    if not findings:
        write("nothing is changed or lost\n")


def _print_text(tokenizer: Any, chat: list[Any], tools: Any, options: dict[str, Any]) -> None:
    from hf_bpe.chat.rendering import render

    rendered = render(tokenizer, chat, tools=tools, **options)
    if sys.stdout is None or not sys.stdout.isatty():
        write(rendered.text)
    else:
        show_in_colours(coloured(rendered))


def _print_tokens(tokenizer: Any, chat: list[Any], tools: Any, options: dict[str, Any]) -> None:
    from rich.text import Text

    from hf_bpe.chat import encode

    encoding = encode(tokenizer, chat, tools=tools, **options)
    show_in_colours(legend(), Text(), coloured(encoding.columns.rendered), Text())
    for lines in lines_of_tokens(encoding, tokenizer.decode):
        show_in_colours(lines)


def _as_json(
    tokenizer: Any, chat: list[Any], tools: Any, options: dict[str, Any], findings: list[Finding]
) -> dict[str, Any]:
    from hf_bpe.chat import encode
    from hf_bpe.chat.rendering import render

    encoding = encode(tokenizer, chat, tools=tools, **options)
    runs = render(tokenizer, chat, tools=tools, **options).runs
    return {
        "text": encoding.text,
        "ids": list(encoding.ids),
        "message_index": list(encoding.message_index),
        "field": list(encoding.field),
        "assistant_mask": [int(trained) for trained in encoding.assistant_mask],
        "turn_boundaries": list(encoding.turn_boundaries),
        "runs": [{"start": start, "end": end, **origin._asdict()} for start, end, origin in runs],
        "findings": [finding.as_json() for finding in findings],
    }
