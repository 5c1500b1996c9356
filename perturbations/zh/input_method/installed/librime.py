"""librime, the engine of Squirrel and Weasel, by ctypes (BSD-3-Clause), with Android's word list."""

from __future__ import annotations

import atexit
import ctypes

from lapsus.perturbations.zh.input_method import installed

INSTALL = "apt-get install librime1 rime-data-pinyin-simp"
_LIBRARY = "librime.so.1"
_SCHEMA = "pinyin_simp"
_DATA = "rime-data"


def is_available() -> bool:
    """Return whether library and schema are here."""
    return installed.has_library(_LIBRARY) and installed.find_data(f"{_DATA}/{_SCHEMA}.schema.yaml") is not None


class _Traits(ctypes.Structure):
    _fields_ = (
        ("data_size", ctypes.c_int),
        *((name, ctypes.c_char_p) for name in ("shared", "user", "name", "code", "version", "app")),
        ("modules", ctypes.POINTER(ctypes.c_char_p)),
        ("min_log_level", ctypes.c_int),
        *((name, ctypes.c_char_p) for name in ("log_dir", "prebuilt", "staging")),
    )


class _Candidate(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p), ("comment", ctypes.c_char_p), ("reserved", ctypes.c_void_p))


class _Iterator(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p), ("index", ctypes.c_int), ("candidate", _Candidate))


class _Rime:
    def __init__(self) -> None:
        self._library = library = ctypes.CDLL(_LIBRARY)
        library.RimeCreateSession.restype = ctypes.c_size_t
        traits = _Traits()
        traits.data_size = ctypes.sizeof(_Traits) - ctypes.sizeof(ctypes.c_int)
        traits.shared = str(installed.find_data(_DATA)).encode()
        traits.user = str(installed.make_scratch_folder()).encode()
        traits.name = traits.code = traits.version = b"lapsus"
        traits.app = b"rime.lapsus"
        traits.min_log_level = 2
        traits.log_dir = traits.user
        library.RimeSetup(ctypes.byref(traits))
        library.RimeInitialize(ctypes.byref(traits))
        if library.RimeStartMaintenance(1):
            library.RimeJoinMaintenanceThread()
        self._session = ctypes.c_size_t(library.RimeCreateSession())
        if not library.RimeSelectSchema(self._session, _SCHEMA.encode()):
            raise OSError(f"librime has no schema {_SCHEMA}; {INSTALL}")
        library.RimeSetOption(self._session, b"ascii_mode", 0)
        atexit.register(library.RimeFinalize)  # else it crashes when the process ends; before its folder goes

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        library, session = self._library, self._session
        library.RimeClearComposition(session)
        for key in keys.encode("ascii", "ignore"):
            library.RimeProcessKey(session, key, 0)
        texts: dict[str, None] = {}
        cursor = _Iterator()
        if library.RimeCandidateListBegin(session, ctypes.byref(cursor)):
            while len(texts) < limit and library.RimeCandidateListNext(ctypes.byref(cursor)):
                texts[cursor.candidate.text.decode()] = None
            library.RimeCandidateListEnd(ctypes.byref(cursor))
        library.RimeClearComposition(session)
        return list(texts)


def open_engine() -> _Rime:
    """Open the engine."""
    return _Rime()
