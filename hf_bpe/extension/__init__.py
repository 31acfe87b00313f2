"""New vocabularies from one that a model already speaks: more tokens, chosen words, fewer tokens."""
