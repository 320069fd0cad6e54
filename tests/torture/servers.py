"""The real server, killed at random moments while clients teach it."""

import http.client
import json
import os
import random
import signal
import sys
import threading
from urllib.parse import urlsplit

from deciban import NaiveBayes
from deciban.cli.exits import run as run_command
from deciban.serve.lessons import export
from deciban.serve.store import LiveStore
from torture import deeds
from torture.part import check

#: Clients at once, kills of one attempt, and the most lessons acknowledged before a kill.
N_CLIENTS, N_KILLS, MAX_ANSWERS = 4, 10, 30


class Caller:
    """A client: what it was told to be there, and what it asked for and was not told about."""

    def __init__(self, number, seed):
        self._chance, self._number = random.Random(seed), number
        self.there, self.pending, self.refused = {}, None, b""
        self.n_answers, self._n = 0, 0

    def call(self, address):
        """Ask until the server is gone; first once more what was not answered."""
        connection = http.client.HTTPConnection(*address, timeout=120)
        try:
            while True:
                self.pending = self.pending or self._next()
                connection.request("POST", *self.pending.request())
                response = connection.getresponse()
                said = response.read()
                if response.status != 200:
                    self.refused = said
                    break
                self.pending.note(self.there)
                self.pending = None
                self.n_answers += 1
        except (http.client.HTTPException, OSError):
            pass  # it was killed
        connection.close()

    def _next(self):
        if self.there and self._chance.random() < 0.2:
            name = self._chance.choice(sorted(self.there))
            return Wish(name, self.there[name], learn=False)
        self._n += 1
        (row,) = deeds.rows(self._chance, 1)
        return Wish(f"{self._number}-{self._n}", row, learn=True)


class Wish:
    """A lesson that shall be learnt, or taken back."""

    def __init__(self, name, row, *, learn):
        self.name, self.row, self._learn = name, row, learn

    def request(self):
        """The path, the body and the headers."""
        row = {key: value for key, value in self.row.items() if key != "fruit"}
        lesson = {"id": self.name, "row": row, "answer": self.row["fruit"]}
        body = {"lessons": [lesson]} if self._learn else {"ids": [self.name]}
        path = "/api/learn" if self._learn else "/api/forget"
        return path, json.dumps(body), {"Content-Type": "application/json"}

    def note(self, there):
        """Remember that it was done."""
        if self._learn:
            there[self.name] = self.row
        else:
            there.pop(self.name)


def killed_servers(chance, folder):
    """Kill a server again and again; its store goes on."""
    first = deeds.rows(chance, 40)
    NaiveBayes().fit(first, target="fruit").save(folder / "m.deciban")
    callers = [Caller(number, chance.randrange(2**32)) for number in range(N_CLIENTS)]
    for _ in range(N_KILLS):
        server, address = _serve(folder)
        _kill_under_load(server, address, callers, chance.randrange(MAX_ANSWERS))
        known = _check_store(folder, callers)
    fresh = NaiveBayes().fit(first, target="fruit")
    fresh.partial_fit([known[name] for name in sorted(known)], target="fruit")
    total = export(str(folder / "live.db")).counts_
    check(total == fresh.counts_, "the counts are not those of the lessons that are there")
    left = {entry.name for entry in folder.iterdir()} - {"m.deciban", "live.db", "tmp"}
    left |= {entry.name for entry in (folder / "tmp").iterdir()}
    check(not left, f"{sorted(left)} are left")
    return N_KILLS


def _serve(folder):
    """A server in a forked process: its number, and where it listens."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        sys.stdout = os.fdopen(there, "w")
        store = str(folder / "live.db")
        words = [str(folder / "m.deciban"), "--learn", "--store", store, "--port", "0"]
        os._exit(run_command(["serve", *words]))
    os.close(there)
    with os.fdopen(here) as lines:
        said = lines.readline()
        lines.readline()  # where the lessons go
    check("at http://" in said, f"the server did not start: {said}")
    url = urlsplit(said.split()[-1])
    return child, (url.hostname, url.port)


def _kill_under_load(server, address, callers, n_answers):
    """Kill after so many answers, at whatever moment it is."""
    enough = sum(caller.n_answers for caller in callers) + n_answers
    threads = [threading.Thread(target=caller.call, args=(address,)) for caller in callers]
    for thread in threads:
        thread.start()
    while sum(caller.n_answers for caller in callers) < enough and threads[0].is_alive():
        threads[0].join(0.001)
    os.kill(server, signal.SIGKILL)
    for thread in threads:
        thread.join()
    refused = [caller.refused for caller in callers if caller.refused]
    check(not refused, f"the server says {refused}")
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    check(code == -signal.SIGKILL, f"the server ended by itself, with {code}")


def _check_store(folder, callers):
    """The lessons that are there: those that were acknowledged; what is pending may be."""
    with LiveStore(str(folder / "live.db")) as store:
        sound = store.connection.execute("PRAGMA integrity_check").fetchone()
        found = {name for (name,) in store.connection.execute("SELECT id FROM lessons")}
    check(sound == ("ok",), f"the store is damaged: {sound}")
    pending = {caller.pending.name: caller.pending for caller in callers if caller.pending}
    rows = {name: row for caller in callers for name, row in caller.there.items()}
    check(rows.keys() - pending.keys() <= found, "an acknowledged lesson is lost")
    check(found <= rows.keys() | pending.keys(), "a lesson is there that was taken back")
    return {name: rows[name] if name in rows else pending[name].row for name in found}
