"""A process that feeds one target with bytes, led by the branches that they reach."""

import sys

import atheris

with atheris.instrument_imports(include=["deciban"]):
    from torture import readers


def main() -> None:
    """``TARGET options-of-libFuzzer corpus``; ends the process."""
    target = readers.TARGETS[sys.argv[1]][0]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
