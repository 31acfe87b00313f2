"""What a vocabulary costs: tokens by script and kind, numbers, the bill, prefix-cache hits, KV-cache bytes, speed.

Each measure takes a tokenizer of any library and texts, and returns a typed result that prints as tables, is saved as
JSON, and is compared with that of another tokenizer by `compared_with`. Where there is nothing to divide by, a figure
is None: never NaN.
"""

from __future__ import annotations

from hf_bpe.measure.billing import Bill, Item, bill, bill_of_requests
from hf_bpe.measure.bits import BitsPerByte, bits_per_byte
from hf_bpe.measure.embedding_shares import EmbeddingShare, embedding_share
from hf_bpe.measure.fertilities import Fertility, fertilities, fertility
from hf_bpe.measure.kinds import kind_of
from hf_bpe.measure.kv_caching import KVCache, LongerText, kv_cache
from hf_bpe.measure.number_splitting import NumberLength, Numbers, grouped, numbers, spelled
from hf_bpe.measure.pages import page_of
from hf_bpe.measure.parities import Parity, parity
from hf_bpe.measure.prefixes import FieldOrder, PrefixReuse, field_order, prefix
from hf_bpe.measure.results import Column, Comparison, Result, Table
from hf_bpe.measure.text_counts import TextCounts
from hf_bpe.measure.timing import Speed, Throughput, throughput
from hf_bpe.measure.tokens import Measured, measured
from hf_bpe.measure.vocabularies import CorpusUse, SharedTokens, VocabularyReport, shared_tokens, vocabulary
from hf_bpe.measure.vocabulary_sizes import VocabularySizes, vocabulary_sizes
from hf_bpe.measure.words import words_of

__all__ = [
    "Bill",
    "BitsPerByte",
    "Column",
    "Comparison",
    "CorpusUse",
    "EmbeddingShare",
    "Fertility",
    "FieldOrder",
    "Item",
    "KVCache",
    "LongerText",
    "Measured",
    "NumberLength",
    "Numbers",
    "Parity",
    "PrefixReuse",
    "Result",
    "SharedTokens",
    "Speed",
    "Table",
    "TextCounts",
    "Throughput",
    "VocabularyReport",
    "VocabularySizes",
    "bill",
    "bill_of_requests",
    "bits_per_byte",
    "embedding_share",
    "fertilities",
    "fertility",
    "field_order",
    "grouped",
    "kind_of",
    "kv_cache",
    "measured",
    "numbers",
    "page_of",
    "parity",
    "prefix",
    "shared_tokens",
    "spelled",
    "throughput",
    "vocabulary",
    "vocabulary_sizes",
    "words_of",
]
