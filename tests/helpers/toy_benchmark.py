"""A benchmark whose rows a test gives."""

from pathlib import Path

from datasets import Features

from lapsus.dataset_scripts.benchmark import TEXT, Benchmark


class Toy(Benchmark):
    """Rows given by the test."""

    NAME = "sample"  # its prose is there
    TITLE = "Toy"
    LANGUAGES = ("en",)
    LICENSE = "apache-2.0"
    ROWS = {"clean": {"test": 2}}
    FEATURES = Features({"id": TEXT, "text": TEXT})
    DATA = ({"id": "a", "text": "one"}, {"id": "b", "text": "two"})

    @classmethod
    def get_bundled_folder(cls):
        return Path(__file__).parent

    def columns(self, config):
        return self.FEATURES

    def rows(self, source, config, split):
        yield from self.DATA


def toy(**facts):
    return type("Toy", (Toy,), {"__module__": __name__, **facts})
