"""Android's Google Pinyin by ctypes (Apache-2.0). It drops what follows about forty letters."""

from __future__ import annotations

import ctypes

from lapsus.perturbations.zh.input_method import installed

INSTALL = "apt-get install libgooglepinyin0"
_LIBRARY = "libgooglepinyin.so.0"
_DICTIONARY = "googlepinyin/data/dict_pinyin.dat"


def is_available() -> bool:
    """Return whether library and dictionary are here."""
    return installed.has_library(_LIBRARY) and installed.find_data(_DICTIONARY) is not None


class _GooglePinyin:
    def __init__(self) -> None:
        self._library = library = ctypes.CDLL(_LIBRARY)
        library.im_open_decoder.restype = ctypes.c_bool
        library.im_open_decoder.argtypes = [ctypes.c_char_p] * 2
        library.im_search.restype = ctypes.c_size_t
        library.im_search.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.im_get_candidate.restype = ctypes.c_void_p
        library.im_get_candidate.argtypes = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        library.im_set_max_lens.argtypes = [ctypes.c_size_t] * 2
        self._buffer = ctypes.create_string_buffer(512)
        user = installed.make_scratch_folder() / "user.dat"
        if not library.im_open_decoder(str(installed.find_data(_DICTIONARY)).encode(), str(user).encode()):
            raise OSError(f"libgooglepinyin does not open its dictionary; {INSTALL}")
        library.im_set_max_lens(64, 64)

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        self._library.im_reset_search()
        letters = keys.encode("ascii", "ignore")
        indices = range(min(self._library.im_search(letters, len(letters)), limit))
        return [self._read_text() for n in indices if self._library.im_get_candidate(n, self._buffer, 255)]

    def _read_text(self) -> str:
        return self._buffer.raw.decode("utf-16-le", "ignore").split("\0")[0]


def open_engine() -> _GooglePinyin:
    """Open the engine."""
    return _GooglePinyin()
