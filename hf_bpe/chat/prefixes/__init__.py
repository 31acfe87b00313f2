"""Where the prefixes of a log of requests break, which field does it, and what a prefix cache would have reused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transformers import PreTrainedTokenizerBase

from hf_bpe.chat.prefixes.breaks import broken
from hf_bpe.chat.prefixes.cache import BlockCache
from hf_bpe.chat.prefixes.overlap import common_behind, common_prefix
from hf_bpe.chat.prefixes.report import BREAKS, PrefixBreak, PrefixReport, RequestReuse
from hf_bpe.chat.prefixes.requests import Request, read_requests

__all__ = ["BREAKS", "PrefixBreak", "PrefixReport", "RequestReuse", "prefix_report"]


def prefix_report(
    requests: Iterable[Any] | Any, *, tokenizer: PreTrainedTokenizerBase | None = None, block_size: int = 16
) -> PrefixReport:
    """Return what a prefix cache would have reused of a log, and what kept it from reusing more.

    Each request is compared with the earlier one that it is most like. Where the two part, the report says which field
    does it (of a chat; not of a rendered text), in which way it differs (an id, a time, the order of keys), and how
    many tokens stand behind that place in both.

    Args:
        requests: The log, in order: a path of JSON lines, or an iterable. Each request is a list of messages; an object
            with `messages`, and `tools` and other arguments of `apply_chat_template` besides (template variables also
            under `kwargs` or `chat_template_kwargs`; what only a server reads, such as `temperature`, is skipped); a
            rendered text, or an object with `text`; a list of ids, or an object with `ids`.
        tokenizer: Renders messages and encodes texts. Without one, texts are counted in bytes.
        block_size: How many tokens a block of the cache has: 16 in vLLM. 1 counts every token of a common prefix.

    Raises:
        TypeError: `requests` is no log.
        ValueError: A request can't be read, or upstream refuses it. The text names it, or its line.

    Example:
        >>> report = chat.prefix_report("requests.jsonl", tokenizer=tokenizer)
        >>> report.share, report.breaks[0][1].kind
        (0.011, 'session-id')
    """
    if block_size < 1:
        raise ValueError(f"block_size={block_size}: a block has at least 1 token")
    cache, seen, rows = BlockCache(block_size), list[Request](), []
    unit: Any = "tokens"
    for request in read_requests(requests, tokenizer):
        reused, alike = cache.add(request.index, request.ids)
        earlier = _most_alike(request, [seen[index] for index in alike])
        rows.append(
            RequestReuse(
                request.index,
                len(request.ids),
                reused,
                broken(request, earlier, tokenizer) if earlier is not None else None,
            )
        )
        seen.append(request)
        unit = "bytes" if request.text is not None and tokenizer is None else unit
    return PrefixReport(tuple(rows), block_size, unit)


def _most_alike(request: Request, candidates: list[Request]) -> Request | None:
    """Return the candidate that has most in common with a request; the latest of several. None if all have nothing."""
    best, most = None, 0
    for earlier in candidates:
        prefix = common_prefix(request.ids, earlier.ids)
        common = prefix + common_behind(request.ids, earlier.ids, prefix)
        if common and common >= most:
            best, most = earlier, common
    return best
