"""The ``deciban`` command: learn, forget, merge, predict, explain, evaluate, report, inspect.

Parse, call, render; no mathematics. Read in the order of a run:

``app``, ``options``, ``column_lists``, ``text_options``, ``grouping``
    the commands and what they take; ``train``, ``predict``, ``threshold``, ``drift``, ``words``,
    ``export``, ``serving``: commands with options of their own
``exits``
    exit codes, and one line for every mistake
``reading``, ``progress``, ``clock``, ``models``
    files to tables, with a bar; model files
``recipes``, ``splits``, ``held_out``, ``choosing``, ``quality``, ``training``, ``trained_rows``
    which model, which rows are held out, what comes of them, and the training itself
``changing``, ``prediction``, ``explanation``, ``evaluation``, ``report``, ``inspection``
    what the other commands do; each gives back facts
``rendering``, ``writing``
    facts as text for people or JSON for machines; tables as CSV, JSON lines or Parquet
``mail``, ``mail_training``, ``delivery``
    the spam filter; its training, and what of it a mail server runs, without NumPy and Typer

Nothing heavy is imported before a command needs it: predicting does without
scikit-learn, and asking for the version without NumPy.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command of ``sys.argv``, and exit with its code."""
    import gc
    import os
    import sys
    import warnings

    from deciban.cli.exits import run, stand_in_for_closed_streams

    if not sys.warnoptions and os.environ.get("DECIBAN_DEBUG") != "1":
        warnings.simplefilter("ignore")  # they are for whoever calls the library
    stand_in_for_closed_streams()
    code = run(sys.argv[1:])
    if sys.argv[1:2] == ["mail"]:  # all goes with the process: no cycles need be looked for
        gc.freeze()
    sys.exit(code)
