"""`python -m overeager.cli`."""

from overeager.cli import main

main()
