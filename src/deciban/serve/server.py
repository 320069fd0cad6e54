"""The server: a socket, and one or several workers that answer what comes in there."""

from __future__ import annotations

import os
import signal
import socket
import sys
import webbrowser
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from deciban.errors import FileError, ParameterError
from deciban.serve.app import create_app
from deciban.serve.metrics import shared_file
from deciban.serve.protocol import BoundedProtocol
from deciban.serve.service import prepare
from deciban.serve.settings import Limits, Settings

__all__ = ["read_token", "run"]

#: Connections that wait until a worker takes them.
WAITING_CONNECTIONS = 1024
#: A worker that says nothing for so long is replaced; one begins slowly where much is going on.
WORKER_SECONDS = 60
#: A token that could be tried out is none.
MIN_TOKEN_LENGTH = 16


@dataclass(frozen=True)
class Factory:
    """What makes the application of a worker; it is sent to other processes."""

    settings: Settings
    metrics_file: str | None = None

    @property
    def limits(self) -> Limits:
        """The limits of its connections."""
        return self.settings.limits

    def __call__(self) -> ASGIApp:
        """The application; a worker ends with the process that made it."""
        parent = parent_process()
        if parent is not None:
            Thread(target=_end_after, args=(parent,), daemon=True).start()
        return create_app(self.settings, self.metrics_file)


def _end_after(parent: BaseProcess) -> None:
    """Wait for a process to end, in whatever way, and end this one too."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def run(settings: Settings, *, open_page: bool = False) -> None:
    """Serve until told to stop; a line on the standard output says where, once it can be asked."""
    settings = prepare(settings.check())
    listener = _listen(settings)
    settings = replace(settings, port=listener.getsockname()[1])
    metrics_file = shared_file() if settings.workers > 1 else None
    config = _config(settings, metrics_file)
    what = settings.model or "a page to train a model on"
    print(f"deciban serves {what} at {settings.url}", flush=True)
    if settings.store is not None:
        print(f"lessons go to {settings.store}", flush=True)
    if open_page:
        webbrowser.open(settings.url)
    try:
        if settings.workers > 1:
            Multiprocess(config, [listener]).run()
        else:
            uvicorn.Server(config).run([listener])
    finally:
        listener.close()
        if metrics_file is not None:
            Path(metrics_file).unlink()


def _config(settings: Settings, metrics_file: str | None) -> uvicorn.Config:
    """How uvicorn runs the service: without what nobody asked for."""
    return uvicorn.Config(
        Factory(settings, metrics_file),
        factory=True,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        workers=settings.workers,
        timeout_graceful_shutdown=10,
        timeout_worker_healthcheck=WORKER_SECONDS,
    )


def _listen(settings: Settings) -> socket.socket:
    """A socket that takes connections from now on."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(WAITING_CONNECTIONS)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise FileError(
            f"port {settings.port} of {settings.host} cannot be used: {error.strerror}.",
            hint="another program may have it: --port names another, 0 any that is free",
        ) from None
    listener.set_inheritable(True)
    return listener


def read_token(path: str) -> str:
    """The token in a file, which others may not read."""
    try:
        file = Path(path)
        token = file.read_text(encoding="ascii").strip()
        open_to_others = sys.platform != "win32" and file.stat().st_mode & 0o077
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {error}.") from None
    if open_to_others:
        raise FileError(f"others may read {path}.", hint=f"chmod 600 {path}")
    if len(token) < MIN_TOKEN_LENGTH or not token.isprintable() or " " in token:
        raise ParameterError(
            f"the token in {path} must be {MIN_TOKEN_LENGTH} letters and digits or more.",
            hint=f"openssl rand -hex 32 > {path}",
        )
    return token
