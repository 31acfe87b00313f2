"""Side-by-side measurements: each peer's ids are compared with tiktoken's, then its clock starts.

`make bench`, `make bench-quick` and `make bench-train` run it from an environment of its own. Every peer works in a
process of its own, pinned to one core, and the processes take turns round by round, so that all see the same machine.
"""
