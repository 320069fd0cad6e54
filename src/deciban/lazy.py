"""Names that are imported when they are first used, so that importing a package is cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def attributes(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package whose public names live in the modules ``homes[name]``.

    A name whose home ends in the name itself is that module.

    >>> attributes("deciban", {"Beta": "deciban.conjugate"})("Beta").__name__
    'Beta'
    """

    def attribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        value = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        setattr(import_module(package), name, value)  # from now on the package itself has it
        return value

    return attribute
