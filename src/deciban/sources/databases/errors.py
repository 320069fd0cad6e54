"""What a database says when it refuses, in our words: its name, its first line, no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from deciban.errors import DecibanError, InputError

__all__ = ["errors_of", "hide_secrets", "refuse_type", "secrets_of"]

#: What drivers say of a session that the server or the network ended.
_LOST = (
    "terminating connection",
    "server closed the connection",
    "connection reset",
    "connection to server was lost",
    "ssl connection has been closed",
    "ssl syscall error",
    "no connection to the server",
)
_ANEW = "connect anew and train again: nothing was changed"
#: Parts of messages, in small letters, and what helps.
_HINTS = {
    "permission denied": "ask for SELECT on the table, or read another one",
    "does not exist": "check the names in the query, and the schema of the table",
    "no such table": "check the name of the table",
    "no such column": "check the names in the query",
    "password": "state it in the environment or in the driver's own file, such as ~/.pgpass",
    "could not connect": "check the address, and that the server is running",
    "connection refused": "check the address, and that the server is running",
    "closed": _ANEW,
    **dict.fromkeys(_LOST, _ANEW),
    "unable to open database": "check the path: a database that is read must be there",
    "no module named": "install the driver of the database, or name another one in the URL, as in "
    "mysql+pymysql://",
    "can't load plugin": "SQLAlchemy knows no such database: check the beginning of the URL, and "
    "that its dialect is installed",
    "syntax": "check the SQL text",
}
_PASSWORD = re.compile(r"(?i)\b(password|passwd|pwd|sslpassword)\s*=\s*('[^']*'|[^\s&]+)")


@contextmanager
def errors_of(engine: str, secrets: tuple[str, ...] = ()) -> Iterator[None]:
    """Let whatever a driver raises in the block be an InputError that names the engine."""
    try:
        yield
    except (DecibanError, MemoryError):
        raise
    except Exception as error:
        text = hide_secrets(str(error).strip().partition("\n")[0].rstrip("."), secrets)
        known = (hint for sign, hint in _HINTS.items() if sign in text.lower())
        lost = any(sign in text.lower() for sign in _LOST)
        what = f"the connection was lost: {text}" if lost else text or type(error).__name__
        raise InputError(
            f"{engine} stopped: {what}.", hint=next(known, "check the query and the connection")
        ) from None


def secrets_of(url: str) -> tuple[str, ...]:
    """What of a URL must not be shown, as it is written and as it is meant.

    >>> secrets_of("postgresql://me:s%21@localhost/db")
    ('s%21', 's!')
    """
    password = urlsplit(url).password if "://" in url else None
    return tuple(dict.fromkeys((password, unquote(password)))) if password else ()


def hide_secrets(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text without passwords: those that are known, and whatever looks like one.

    >>> hide_secrets("host=x password=s! at postgresql://me:s%21@h/db")
    'host=x password=*** at postgresql://me:***@h/db'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    text = re.sub(r"(://[^\s:/@]*):[^\s@]*@", r"\1:***@", text)
    return _PASSWORD.sub(r"\1=***", text)


def refuse_type(engine: str, column: str, kind: str) -> InputError:
    """A column of a type that cannot be counted."""
    return InputError(
        f"{engine}: column {column!r} has the type {kind}, which cannot be counted.",
        hint="leave the column out of the query, or turn it into text, numbers or several columns",
    )
