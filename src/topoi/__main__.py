"""`python -m topoi` is the `topoi` command."""

from topoi.cli import main

main()
