"""libime, the engine of fcitx5 (LGPL-2.1-or-later): a C++ library, reached through a shim compiled on first use."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

from lapsus.perturbations.zh.input_method import installed

INSTALL = (
    "apt-get install g++ libimepinyin-dev libimecore-dev libboost-dev libfcitx5utils-dev "
    "libime-data libime-data-language-model"
)
_SHIM = Path(__file__).with_name("libime_shim.cpp")
_DICTIONARY = "libime/sc.dict"
_MODEL = "libime/zh_CN.lm"
_HEADERS = (Path("/usr/include/LibIME/libime/core/languagemodel.h"), Path("/usr/include/LibIME/libime/pinyin"))


def is_available() -> bool:
    """Return whether library, data, headers and a compiler are here."""
    return (
        installed.has_library("libIMEPinyin.so.0")
        and None not in (installed.find_data(_DICTIONARY), installed.find_data(_MODEL), shutil.which("g++"))
        and all(header.exists() for header in _HEADERS)
    )


def _compile_shim(shim: Path) -> ctypes.CDLL:
    """Compile the shim and load it."""
    includes = ("-I/usr/include/LibIME", "-I/usr/include/Fcitx5/Utils")
    libraries = ("-lIMEPinyin", "-lIMECore", "-lFcitx5Utils")
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", str(_SHIM), "-o", str(shim), *includes, *libraries]
    process = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own source
    if process.returncode:
        raise OSError(f"the shim of libime does not compile: {process.stderr.strip().splitlines()[0]}; {INSTALL}")
    return ctypes.CDLL(str(shim))  # once loaded, its file is no longer needed


class _LibIme:
    def __init__(self) -> None:
        with tempfile.TemporaryDirectory(prefix="lapsus-") as folder:
            self._library = library = _compile_shim(Path(folder) / "shim.so")
        library.lapsus_open.restype = ctypes.c_void_p
        library.lapsus_open.argtypes = [ctypes.c_char_p] * 2
        library.lapsus_candidates.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int
        ]  # fmt: skip
        self._engine = library.lapsus_open(
            str(installed.find_data(_DICTIONARY)).encode(), str(installed.find_data(_MODEL)).encode()
        )
        self._buffer = ctypes.create_string_buffer(1 << 15)

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        letters = keys.encode("ascii", "ignore")
        self._library.lapsus_candidates(self._engine, letters, limit, self._buffer, len(self._buffer))
        return list(dict.fromkeys(self._buffer.value.decode("utf-8", "ignore").split()))


def open_engine() -> _LibIme:
    """Compile the shim and open the engine."""
    return _LibIme()
