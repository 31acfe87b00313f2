"""Embedding rows that follow a vocabulary, in memory and in safetensors files."""
