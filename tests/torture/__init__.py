"""Torture: everything that is promised about files, stores and inputs, tried until time is up.

    make torture MINUTES=60
    make torture PART='kill: save' SEED=17      one part, from one seed on

Read ``part.py`` (what a part is), ``__main__.py`` (the command), ``worker.py`` (one part in a
process of its own), then the parts: ``kills.py``, ``failures.py``, ``damage.py``, ``readers.py``,
``frames.py``, ``life.py``, ``crowds.py``, ``loads.py``, ``servers.py``. ``shim.c`` makes system
calls go wrong, ``deeds.py`` is what is done meanwhile, ``trial.py`` what must hold afterwards.
"""
