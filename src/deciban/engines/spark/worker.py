"""The process of Python in which an executor runs its tasks, one after the other."""

from __future__ import annotations

import os
import sys
from zipimport import zipimporter

__all__ = ["prepare_worker"]


def prepare_worker() -> None:
    """Use one core, as a task of Spark has one, and let the next task start faster."""
    os.environ.setdefault("DECIBAN_THREADS", "1")
    import pyspark

    drop_finders(getattr(pyspark.__spec__, "loader", None))


def drop_finders(loader: object) -> None:
    """Forget where modules of an archive were looked for; they are found again when needed.

    Before every task Spark tells all finders to look again. Those of its own archive, one for each
    of its packages, then read the whole list of its files: 0.12 s a task, with nothing to find.
    """
    if not isinstance(loader, zipimporter):
        return
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter) and finder.archive == loader.archive:
            del sys.path_importer_cache[path]
