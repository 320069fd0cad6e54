"""How a service is set up: what it serves, where, to whom, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address

from deciban.errors import ParameterError

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True)
class Limits:
    """The most that one request, or all together, may take."""

    #: Bytes of a request that is answered from memory, as sent and after unpacking.
    body_bytes: int = 16 << 20
    #: Bytes of a table sent to ``/api/batch``, which is kept in a temporary file.
    batch_bytes: int = 64 << 30
    #: Bytes of a table that a model is trained on.
    table_bytes: int = 4 << 30
    #: Rows of one request; ``/api/batch`` has no such limit.
    rows: int = 10_000
    #: Seconds until the head of a request must be there, and between two pieces of its body.
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    #: Connections of one worker at a time.
    connections: int = 512


@dataclass(frozen=True)
class Settings:
    """What is served, and how; every worker gets a copy."""

    #: The model file; None where a model is yet to be trained.
    model: str | None
    data: str | None = None
    #: A file with rows to train on, where there is no model.
    table: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    #: The live store; None where nothing is learnt.
    store: str | None = None
    #: What a caller must know, if anything.
    token: str | None = None
    #: Whether an address that others can reach may go without a token.
    insecure: bool = False
    #: Names besides the address under which the service is asked, such as those of a proxy.
    names: tuple[str, ...] = ()
    workers: int = 1
    language: str = "en"
    limits: Limits = field(default_factory=Limits)

    def check(self) -> Settings:
        """These settings, if they are safe."""
        if not (self.is_local or self.token or self.insecure):
            raise ParameterError(
                f"{self.host} can be reached by others, who could ask and teach this model.",
                hint="add --token-file FILE, or --insecure if that is meant",
            )
        if self.model is None:
            self._check_trainer()
        return self

    def _check_trainer(self) -> None:
        """Refuse what only a model can have."""
        for stated, name in ((self.store, "--learn"), (self.data, "--data")):
            if stated is not None:
                raise ParameterError(
                    f"{name} is for a model, and there is none yet.",
                    hint="name a model file, or train one on the page first",
                )
        if self.workers > 1:
            raise ParameterError(
                f"a model is trained by one worker, not by {self.workers}.",
                hint="serve the model that was trained with --workers",
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the address.

        >>> Settings("m", host="127.0.0.1").is_local, Settings("m", host="0.0.0.0").is_local
        (True, False)
        """
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def url(self) -> str:
        """Where the page is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"
