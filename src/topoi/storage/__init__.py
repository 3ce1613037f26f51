"""Files with a schema: archives, and checkpoints of runs."""
