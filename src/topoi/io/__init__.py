"""Files to corpora and back."""
