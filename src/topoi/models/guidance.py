"""What guides topics to words: seeds, and an array as topic_word_prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topoi.graph.seeds import Seeds, WordPrior, place_seeds
from topoi.models.parameters import Parameters, SeedsLike
from topoi.models.topics import Topics
from topoi.models.word_priors import given_array

__all__ = ["Guided"]


class Guided(Topics, Parameters):
    """A model whose topics may have word priors of their own."""

    seeds: SeedsLike = None

    def _guides(self, n_topics: int, n_words: int) -> list[Seeds | WordPrior]:
        """Factors of all that guides topics."""
        guides: list[Seeds | WordPrior] = []
        given = given_array(self.topic_word_prior, n_topics, n_words)
        if given is not None:
            guides.append(WordPrior((given - given.min()).T))
        if self.seeds is not None:
            usual = [self._usual_name(k) for k in range(n_topics)]
            guides.append(place_seeds(self.seeds, self.vocabulary_, usual, self._n_labels))
        return guides

    @property
    def _n_labels(self) -> int:
        """How many topics belong to labels; they come first."""
        return 0

    def _name_seeded(self, factors: Sequence[object]) -> None:
        """Topics are called as those of the model they start from, and as their seeds are."""
        started = getattr(self.init, "_topic_names", {})
        self._topic_names |= started
        for factor in factors:
            if isinstance(factor, Seeds) and factor.placed is not None:
                self._topic_names |= factor.placed.names

    def _word_prior(
        self, n_topics: int, word_weight: np.ndarray, token: float
    ) -> np.ndarray | None:
        """(W, K) word priors of topics that have one, beyond beta; where documents do not come all
        at once. Topics get the names of their seeds.

        word_weight: (W,) weight of each word in all documents; token: weight of one token.
        """
        guides = self._guides(n_topics, len(word_weight))
        self._name_seeded(guides)
        priors = [guide.word_prior(n_topics, word_weight, token) for guide in guides]
        return np.sum(priors, axis=0) if any(prior.any() for prior in priors) else None
