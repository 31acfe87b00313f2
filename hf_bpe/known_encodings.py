"""Facts about published encodings: split pattern, special tokens, and how their rank files are recognised."""

from __future__ import annotations
