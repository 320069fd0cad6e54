"""``python -m deciban`` is ``deciban``."""

from __future__ import annotations

from deciban.cli import main

if __name__ == "__main__":
    main()
