"""Compiles the Chinese typist on request, `LAPSUS_COMPILE=1 pip install .`, and mends sdists and editable installs.

Everything else is in pyproject.toml.
"""

import base64
import gzip
import hashlib
import os
import sys
import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from setuptools import Extension, setup
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

TYPIST = ("candidates", "confusable_words", "habits", "keys", "memory", "punctuation", "retyping", "session")
COMPILED = ("zh/input_method/pinyin", *(f"zh/typist/{name}" for name in TYPIST))
WANTED = os.environ.get("LAPSUS_COMPILE", "") not in ("", "0")


def extensions() -> list[Extension]:
    """Return the modules to compile, found where an installed package has them."""
    from mypyc.build import mypycify

    root = Path(__file__).resolve().parent
    package = root / "build" / "compiled" / "lapsus"
    package.mkdir(parents=True, exist_ok=True)
    places = {"__init__.py": "lapsus/__init__.py", "core": "lapsus/core", "perturbations": "perturbations"}
    for name, folder in places.items():
        if not (package / name).exists():
            (package / name).symlink_to(root / folder)
    os.chdir(package.parent)
    try:
        return mypycify(
            ["--ignore-missing-imports", "--follow-imports=silent"]
            + [f"lapsus/perturbations/{name}.py" for name in COMPILED],
            target_dir=str(package.parent / "c"),
            group_name="lapsus",
        )
    finally:
        os.chdir(root)


# Python takes a folder without `__init__.py` for a namespace before it asks the hook of an editable install, such as a
# checkout called `lapsus` in the working folder. A package on sys.path, such as one of PYTHONPATH, still comes first.
HOOK = b"""

class _BeforeNamespaces:
    @staticmethod
    def find_spec(fullname, path=None, target=None):
        spec = PathFinder.find_spec(fullname) if fullname in MAPPING and path is None else None
        return _EditableFinder.find_spec(fullname) if spec is not None and spec.loader is None else None
"""


class EditableWheelBeforeNamespaces(editable_wheel):
    """An editable wheel whose packages come before folders of the same name."""

    def run(self) -> None:
        """Build the wheel, then extend the hook and change its hash."""
        super().run()
        for wheel in Path(self.dist_dir).glob("lapsus-*.editable-*.whl"):
            with ZipFile(wheel) as archive:
                contents = {info: archive.read(info) for info in archive.infolist()}
            hook = next((info for info in contents if info.filename.endswith("_finder.py")), None)
            if hook is None:  # the strict mode of setuptools needs no hook
                continue
            added = b"sys.meta_path.insert(0, _BeforeNamespaces); sys.meta_path.append("
            contents[hook] = contents[hook].replace(b"sys.meta_path.append(", added) + HOOK
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents[hook]).digest()).decode().rstrip("=")
            entry = f"{hook.filename},sha256={digest},{len(contents[hook])}"
            with ZipFile(wheel, "w", ZIP_DEFLATED) as archive:
                for info, content in contents.items():
                    if info.filename.endswith(".dist-info/RECORD"):
                        lines = content.decode().splitlines()
                        lines = [entry if line.startswith(f"{hook.filename},") else line for line in lines]
                        archive.writestr(info, "".join(f"{line}\n" for line in lines))
                    else:
                        archive.writestr(info, content)


class ReproducibleSdist(sdist):
    """An sdist with the same bytes wherever it is built: no owners, modes, or times but $SOURCE_DATE_EPOCH."""

    def make_archive(self, base_name: str, format: str, *arguments: Any, base_dir: Any = None, **options: Any) -> str:
        """Write a .tar.gz; any other format as setuptools does."""
        if format != "gztar":
            return str(super().make_archive(base_name, format, *arguments, base_dir=base_dir, **options))
        time = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))  # 1980 where no time is given

        def strip(info: tarfile.TarInfo) -> tarfile.TarInfo:
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = time
            info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
            return info

        path = Path(f"{base_name}.tar.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            path.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            archive.add(str(base_dir), filter=strip)  # which adds the members of a folder by name
        return str(path)


# An editable install stays as it is written: what was compiled would hide later changes.
setup(
    cmdclass={"editable_wheel": EditableWheelBeforeNamespaces, "sdist": ReproducibleSdist},
    setup_requires=["mypy>=1.11"] if WANTED else [],
    ext_modules=extensions() if WANTED and "bdist_wheel" in sys.argv else [],
)
