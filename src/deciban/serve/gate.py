"""Who may ask what: the first and the last that sees a request.

- ``Host`` must be an address, ``localhost`` or a name the service was given: a page of another
  site that has its name point here (DNS rebinding) gets nothing.
- ``Origin``, if there is one, must be the service itself; no other site is ever allowed.
- Where there is a token, all but the page itself and ``/healthz`` need it.
- Whatever goes wrong is answered by a problem document, never by a traceback.
- Every answer says that nothing may be loaded from elsewhere, framed, guessed or kept.
"""

from __future__ import annotations

import hmac
import sys
import time
from ipaddress import ip_address

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deciban.errors import DecibanError
from deciban.serve.messages import problem_response
from deciban.serve.metrics import Metrics
from deciban.serve.problems import Problem, ProblemError, of_error
from deciban.serve.settings import Settings

__all__ = ["Gate"]

_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        b"object-src 'none'; img-src 'self' data:",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
#: The headers that are looked at here.
_CHECKED_HEADERS = frozenset((b"host", b"origin", b"authorization", b"sec-fetch-site"))
#: Host headers that need not be looked at again.
MAX_KNOWN_HOSTS = 64
#: The name of all paths that there are not, for counting.
OTHER_PATH = "other"


class Gate:
    """An ASGI application around another one."""

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, paths: frozenset[str]
    ) -> None:
        self._app, self._settings, self._metrics, self._paths = app, settings, metrics, paths
        self._token = None if settings.token is None else settings.token.encode()
        self._known_hosts: set[bytes] = set()
        self._names = frozenset(name.lower() for name in (*settings.names, "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def reply(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, reply)
        except Exception as error:
            if status:  # an answer is on its way: it must not look whole
                _complain(scope, error)
                raise
            problem = _problem(error)
            if problem.status == 500:
                _complain(scope, error)
            await problem_response(problem)(scope, receive, reply)
        finally:
            path = scope["path"]
            seconds = time.perf_counter() - start
            known = path if path in self._paths else OTHER_PATH
            self._metrics.count(known, status or 500, seconds, scope.get("deciban.rows", 0))

    def _check(self, scope: Scope) -> None:
        """Refuse a request that is not for this service, or not from whom it may be."""
        given = {name: value for name, value in scope["headers"] if name in _CHECKED_HEADERS}
        host = given.get(b"host", b"").lower()
        if host not in self._known_hosts:
            self._check_host(host)
        path = scope["path"]
        private = path.startswith("/api/") or path == "/metrics"
        origin = given.get(b"origin", b"").lower()
        foreign = private and given.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
        if foreign or (origin and origin not in (b"http://" + host, b"https://" + host)):
            raise ProblemError(403, "pages of other sites may not ask this service.")
        if private and self._token is not None:
            self._check_token(given.get(b"authorization", b""), self._token)

    def _check_token(self, authorization: bytes, token: bytes) -> None:
        kind, _, given = authorization.partition(b" ")
        known = hmac.compare_digest(given.strip(), token)
        if kind.lower() != b"bearer" or not known:
            raise ProblemError(
                401, "the token is missing or wrong.", "send Authorization: Bearer TOKEN"
            )

    def _check_host(self, host: bytes) -> None:
        """Refuse a Host header that does not name this service; one that does is remembered."""
        if not self._is_own(host.decode("latin-1")):
            raise ProblemError(
                421,
                f"the request is for {host.decode('latin-1') or 'no host'!r}, not this service.",
                "ask by its address, or name it with --name",
            )
        if len(self._known_hosts) < MAX_KNOWN_HOSTS:
            self._known_hosts.add(host)

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this service: an address cannot be made to point here."""
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name in self._names:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _problem(error: Exception) -> Problem:
    """What a caller is told."""
    if isinstance(error, ProblemError):
        return error.problem
    if isinstance(error, DecibanError):
        return of_error(error)
    if isinstance(error, MemoryError):
        return Problem.of(503, "there is not enough memory.", "send fewer rows")
    return Problem.of(500, "the service made a mistake.", "its log says more; please report it")


def _complain(scope: Scope, error: Exception) -> None:
    """One line in the log."""
    text = " ".join(str(error).split())[:500]
    print(f"error: {scope['path']!r}: {type(error).__name__}: {text}", file=sys.stderr, flush=True)
