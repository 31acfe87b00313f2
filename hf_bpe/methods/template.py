"""The special tokens that the post-processor puts around texts, and how BOS and EOS are asked for."""

from __future__ import annotations

from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from hf_bpe import special_tokens
from hf_bpe.methods.vocabulary import VocabularyMethods


class TemplateMethods(VocabularyMethods):
    """What the template of the post-processor says, and upstream's switches that replace it."""

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Return how many tokens the post-processor adds to a text, or to a pair."""
        return self._core.num_special_tokens_to_add(pair=pair)

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Put the post-processor's special tokens around ids."""
        return special_tokens.around(self._core, token_ids_0, token_ids_1).ids

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Return the type ids of what `build_inputs_with_special_tokens` returns."""
        return special_tokens.around(self._core, token_ids_0, token_ids_1).type_ids

    def get_special_tokens_mask(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """Return 1 for each special token among ids that have them, or would get them, and 0 for the others."""
        if already_has_special_tokens:
            mask: list[int] = PreTrainedTokenizerBase.get_special_tokens_mask(self, token_ids_0, token_ids_1, True)
            return mask
        return special_tokens.around(self._core, token_ids_0, token_ids_1).special_tokens_mask

    @property
    def add_bos_token(self) -> bool:
        """Whether BOS was asked for by argument. Setting it replaces the post-processor, as in stock."""
        return bool(self.__dict__.get("_add_bos_token", False))

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._add_bos_token = value
        self.update_post_processor()

    @property
    def add_eos_token(self) -> bool:
        """Whether EOS was asked for by argument. Setting it replaces the post-processor, as in stock."""
        return bool(self.__dict__.get("_add_eos_token", False))

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._add_eos_token = value
        self.update_post_processor()

    def update_post_processor(self) -> None:
        """Make the post-processor add BOS and EOS as `add_bos_token` and `add_eos_token` say."""
        self._add_bos_token = self.add_bos_token and self.bos_token is not None
        self._add_eos_token = self.add_eos_token and self.eos_token is not None
        bos = (self.bos_token, self.bos_token_id) if self.add_bos_token else None
        eos = (self.eos_token, self.eos_token_id) if self.add_eos_token else None
        self._core = self._core.with_component("post_processor", special_tokens.bos_eos_template(bos, eos))
