"""`python -m lapsus` is the `lapsus` command."""

from lapsus.cli import main

main()
