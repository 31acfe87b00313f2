"""The methods of `HfBpeTokenizer` by topic: vocabulary, template, encoding, decoding. One class inherits them all."""
