"""Threads of batches: one process uses all cores, each of several workers uses one.

A child that was forked after hf_bpe was imported is found by the core itself. One that was started anew (`spawn`,
`forkserver`) imports hf_bpe like any program; it is told apart by the parent that `multiprocessing` knows of.
`TOKENIZERS_PARALLELISM` and `RAYON_NUM_THREADS` override both.
"""

from __future__ import annotations

import sys

from hf_bpe import _native

# The second is the fork of it that `datasets.map(num_proc=...)` uses.
_PROCESS_MODULES = ("multiprocessing.process", "multiprocess.process")


def note_worker_process() -> None:
    """Tell the core if this process is a worker of another one."""
    modules = [sys.modules[name] for name in _PROCESS_MODULES if name in sys.modules]
    if any(module.parent_process() is not None for module in modules):
        _native.set_worker_process()
