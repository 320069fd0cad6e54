"""Stands in for the model file of NaiveBayes until there is one: a pickle, for tests only.

``python tests/stand_in.py train ...`` is ``deciban train ...`` with it.
"""

import pickle
import zipfile
from pathlib import Path

from deciban.cli import main, models
from deciban.errors import ModelFileError
from deciban.storage.atomic import replacing


def _read(path):
    if not Path(path).exists():
        raise ModelFileError(f"{path} does not exist.", hint="check the name")
    try:
        with zipfile.ZipFile(path) as archive:
            return pickle.loads(archive.read("model"))
    except (zipfile.BadZipFile, OSError, KeyError):
        raise ModelFileError(f"{path} is not a model file, or damaged.") from None


def estimator(path):
    from deciban.mixed import NaiveBayes

    parameters, model, target = _read(path)
    found = NaiveBayes(**parameters)
    found._adopt(model)
    found.target_ = target
    found.n_features_in_ = len(model.schema.names)
    return found


def opened(path):
    _, model, target = _read(path)
    return models.Opened(model, target)


def save(model, path):
    content = (model.get_params(), model.model_, getattr(model, "target_", None))
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("model", (2026, 1, 1, 0, 0, 0))
        archive.writestr(info, pickle.dumps(content))
    return Path(path).stat().st_size


def install():
    if not hasattr(models, "really"):
        models.estimator, models.opened, models.save = estimator, opened, save
        models.format_version = lambda path: 1


install()

if __name__ == "__main__":
    main()
