"""`python -m lapsus` is the `lapsus` command."""

from lapsus.commands.cli import main

main()
