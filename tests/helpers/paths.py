"""Where the tests find files."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent  # the checkout
BENCHMARK_FILES = TESTS / "benchmarks_files"  # small files in the formats of the real ones
SHARED_DATA = ROOT.parent / "shared" / "data"  # the real ones, where they are beside the checkout
