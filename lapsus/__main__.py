"""`python -m lapsus` is the `lapsus` command."""

from lapsus.cli.main import main

main()
