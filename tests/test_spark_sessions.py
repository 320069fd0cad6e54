"""What is known of a session of Spark and of its workers, without one."""

import importlib
import sys
import zipfile
import zipimport
from types import SimpleNamespace

import pytest

from deciban.engines.spark.worker import drop_finders
from deciban.sources.spark import n_cores


def session(parallelism, **settings):
    conf = {name.replace("_", "."): value for name, value in settings.items()}
    context = SimpleNamespace(defaultParallelism=parallelism, getConf=lambda: conf)
    return SimpleNamespace(sparkContext=context)


def test_the_cores_of_a_session():
    assert n_cores(session(6)) == 6
    assert n_cores(session(2, spark_executor_instances="50", spark_executor_cores="4")) == 200
    assert n_cores(session(300, spark_executor_cores="4")) == 300
    assert n_cores(session(2, spark_dynamicAllocation_enabled="true")) is None


def test_the_cores_of_connect_are_not_known():
    class Session:
        pass

    Session.__module__ = "pyspark.sql.connect.session"
    assert n_cores(Session()) is None


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """Two archives, each with a package of two modules."""
    for name in ("first", "second"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for module in ("__init__", "one", "two"):
                archive.writestr(f"{name}_package/{module}.py", f"name = {module!r}")
        monkeypatch.syspath_prepend(str(tmp_path / f"{name}.zip"))
    yield tmp_path
    for module in [
        name for name in sys.modules if name.endswith("_package") or "_package." in name
    ]:
        del sys.modules[module]


def finders(path):
    return [name for name in sys.path_importer_cache if name.startswith(str(path))]


def test_finders_of_one_archive_are_dropped(archives):
    for name in ("first", "second"):
        importlib.import_module(f"{name}_package.one")
    loader = sys.modules["first_package"].__spec__.loader
    assert isinstance(loader, zipimport.zipimporter)
    others = finders(archives / "second.zip")
    assert finders(archives / "first.zip")
    drop_finders(loader)
    assert not finders(archives / "first.zip")
    assert finders(archives / "second.zip") == others
    assert importlib.import_module("first_package.two").name == "two"


def test_modules_in_folders_have_nothing_to_drop():
    before = dict(sys.path_importer_cache)
    drop_finders(importlib.import_module("json").__spec__.loader)
    assert sys.path_importer_cache == before
