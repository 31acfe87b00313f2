"""Train, load and use byte pair encoding tokenizers, the Hugging Face way, with a native core."""
