"""A corpus, and how it becomes batches that the native counter reads.

Strings come as lists of `str`. Arrow data, `datasets` and files come as Arrow columns, whose buffers the counter
reads where they are: no Python object is made for a row. Every source is read once, from front to end, and no
more than a batch of it is held; a long line of a text file comes in parts.
"""

from __future__ import annotations

from hf_bpe.corpus.files import open_part
from hf_bpe.corpus.iterables import corpus_of_rows
from hf_bpe.corpus.opening import open_corpus
from hf_bpe.corpus.value import Corpus, Source

__all__ = ["Corpus", "Source", "corpus_of_rows", "open_corpus", "open_part"]
