"""The tables of the store of mail."""

from __future__ import annotations

from deciban.sqlite import Layout

__all__ = ["LAYOUT", "TOKEN_TABLES"]

#: Those of the tokens.
TOKEN_TABLES = """
CREATE TABLE tokens (bucket INTEGER PRIMARY KEY, rows BLOB NOT NULL);
CREATE TABLE hashing (secret INTEGER NOT NULL, bits INTEGER NOT NULL, tokens INTEGER NOT NULL);
INSERT INTO hashing VALUES (random(), 0, 0);
"""

#: The number says "deci" in ASCII; the version is that of the tables and of the tokens.
LAYOUT = Layout(
    name="store of mail",
    application=0x64656369,
    version=2,
    older=(1,),
    tables=TOKEN_TABLES
    + """
CREATE TABLE levels (level INTEGER PRIMARY KEY, ham INTEGER NOT NULL CHECK (ham >= 0),
    spam INTEGER NOT NULL CHECK (spam >= 0)) WITHOUT ROWID;
CREATE TABLE lessons (digest BLOB PRIMARY KEY, spam INTEGER NOT NULL CHECK (spam IN (0, 1)),
    level INTEGER) WITHOUT ROWID;
CREATE TABLE totals (ham INTEGER NOT NULL CHECK (ham >= 0),
    spam INTEGER NOT NULL CHECK (spam >= 0));
INSERT INTO totals VALUES (0, 0);
""",
    making="deciban mail train or deciban mail learn makes one; --store names another",
    renewing="train a new one from the messages",
)
