"""libpinyin, the engine of ibus, by ctypes (GPL-3.0-or-later: found at run time, never shipped)."""

from __future__ import annotations

import ctypes

from lapsus.perturbations.zh.input_method import installed

INSTALL = "apt-get install libpinyin15 libpinyin-data"
_LIBRARY = "libpinyin.so.15"
_DATA = "libpinyin/data"
_OPTIONS = 1 << 1 | 1 << 3 | 1 << 7 | 1 << 8 | 0xFF << 21  # full and unfinished syllables, re-splitting, corrections
_ORDER = 0x2 | 0x4 | 0x10  # by length of phrase and of reading, then by frequency
_POINTER = ctypes.c_void_p
_PROTOTYPES = {
    "pinyin_init": (_POINTER, [ctypes.c_char_p] * 2),
    "pinyin_alloc_instance": (_POINTER, [_POINTER]),
    "pinyin_set_options": (ctypes.c_bool, [_POINTER, ctypes.c_uint32]),
    "pinyin_load_phrase_library": (ctypes.c_bool, [_POINTER, ctypes.c_uint8]),
    "pinyin_load_addon_phrase_library": (ctypes.c_bool, [_POINTER, ctypes.c_uint8]),
    "pinyin_parse_more_full_pinyins": (ctypes.c_size_t, [_POINTER, ctypes.c_char_p]),
    "pinyin_guess_sentence": (ctypes.c_bool, [_POINTER]),
    "pinyin_guess_candidates": (ctypes.c_bool, [_POINTER, ctypes.c_size_t, ctypes.c_uint]),
    "pinyin_get_n_candidate": (ctypes.c_bool, [_POINTER, ctypes.POINTER(ctypes.c_uint)]),
    "pinyin_get_candidate": (ctypes.c_bool, [_POINTER, ctypes.c_uint, ctypes.POINTER(_POINTER)]),
    "pinyin_get_candidate_string": (ctypes.c_bool, [_POINTER, _POINTER, ctypes.POINTER(ctypes.c_char_p)]),
    "pinyin_reset": (ctypes.c_bool, [_POINTER]),
}


def is_available() -> bool:
    """Return whether library and tables are here."""
    return installed.has_library(_LIBRARY) and installed.find_data(_DATA) is not None


class _LibPinyin:
    def __init__(self) -> None:
        self._library = library = ctypes.CDLL(_LIBRARY)
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        user = installed.make_scratch_folder()
        context = library.pinyin_init(str(installed.find_data(_DATA)).encode(), str(user).encode())
        if not context:
            raise OSError(f"libpinyin does not open its tables; {INSTALL}")
        for number in (2, 3, 4):
            library.pinyin_load_phrase_library(context, number)
        for number in range(4, 16):
            library.pinyin_load_addon_phrase_library(context, number)
        library.pinyin_set_options(context, _OPTIONS)  # without its dynamic adjustment, which learns
        self._instance = library.pinyin_alloc_instance(context)

    def candidates(self, keys: str, context: str = "", limit: int = 20) -> list[str]:
        library, instance = self._library, self._instance
        library.pinyin_parse_more_full_pinyins(instance, keys.encode("ascii", "ignore"))
        library.pinyin_guess_sentence(instance)
        library.pinyin_guess_candidates(instance, 0, _ORDER)
        count, candidate, text = ctypes.c_uint(), _POINTER(), ctypes.c_char_p()
        library.pinyin_get_n_candidate(instance, ctypes.byref(count))
        texts: dict[str, None] = {}
        for n in range(count.value):
            if len(texts) == limit:
                break
            library.pinyin_get_candidate(instance, n, ctypes.byref(candidate))
            library.pinyin_get_candidate_string(instance, candidate, ctypes.byref(text))
            texts[(text.value or b"").decode()] = None
        library.pinyin_reset(instance)
        return list(texts)


def open_engine() -> _LibPinyin:
    """Open the engine."""
    return _LibPinyin()
