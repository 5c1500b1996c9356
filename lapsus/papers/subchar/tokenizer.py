"""A tokenizer of transformers that reads Chinese by sound or shape, and gives every text back as it was.

Characters become codes (`codes.py`), of which byte-pair encoding learns pieces that may span characters. All is in
`tokenizer.json`, so `AutoTokenizer` reads the folder without lapsus and gives the same numbers; only decoding to
characters needs this class. What has no code is read as it stands, and what the pieces lack as its bytes: no text is
unknown.

With `index=True` (SubChar) the numbers alone give the text back, since a number keeps homophones apart. Without
(SubChar-NoIndex), characters that are spelt alike are one and the same to the model, which so forgives a homophone;
decoding then gives the most frequent one, and the text itself comes from the offsets, by `decode_codes`.

>>> forgiving = SubCharTokenizer.train(["怎么支付", "怎么退款"], "pinyin", size=500)
>>> forgiving("支付 ok").input_ids == forgiving("支富 ok").input_ids
True
>>> forgiving.decode(forgiving("支富 ok").input_ids, skip_special_tokens=True)
'支付 ok'
>>> exact = SubCharTokenizer.train(["怎么支付", "怎么退款"], "pinyin", index=True, size=500)
>>> exact.decode(exact("支富 ok").input_ids, skip_special_tokens=True)
'支富 ok'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from lapsus.papers.subchar.charsmap import build_charsmap
from lapsus.papers.subchar.codes import END, HAN, RESERVED, format_codes, make_spellings, rank_characters

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
RUN = "\ue000-\ue0ff"  # the letters of codes
JOINT = "\ue100"  # stands before a loose mark, see LOOSE; where a text has it, it is doubled
PIECES = Regex(f"[{RUN}]+|[A-Za-z]+|[^A-Za-z{RUN}]")  # a piece is cut within one of these
# Precompiled takes a character with a loose mark behind it (two bytes or fewer) for one, and would drop the mark.
LOOSE = Regex(f"(?<=[〇一-鿿{RUN}])(?=[\u0300-\u07ff&&\\p{{M}}])")
CODE = re.compile(f"[{RUN[0]}-\ue0fe]*{END}|[{RUN}]|{JOINT}{{1,2}}")


class SubCharTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc] # transformers has no types
    """Reads Chinese by sound or shape; make one with `train`, then save and load it as any tokenizer.

    It has no `__init__`: transformers would then build a class anew from its vocabulary instead of `tokenizer.json`.
    Special tokens such as `[SEP]` within a text are read as the text that they are.
    """

    @classmethod
    def train(
        cls, texts: Iterable[str], code: str = "pinyin", *, index: bool = False, size: int = 8000
    ) -> SubCharTokenizer:
        """Learn the pieces of texts.

        Args:
            texts: The training texts.
            code: How characters are spelt: "pinyin", "pinyin-toneless", "zhuyin", "wubi"; or "characters", which are
                then left as they are, for a tokenizer of the same kind to compare with.
            index: Whether a number keeps apart the characters that are spelt alike.
            size: How many tokens there are, special ones and the 256 bytes included.
        """
        texts = list(texts)
        order = rank_characters(texts)
        code_by_character = make_spellings(code, order, index=index)
        tokenizer = Tokenizer(models.BPE())
        tokenizer.normalizer = normalizers.Sequence(
            [
                normalizers.Replace(JOINT, 2 * JOINT),
                normalizers.Replace(LOOSE, JOINT),
                normalizers.Precompiled(build_charsmap(code_by_character)),
            ]
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Split(PIECES, "isolated")
        letters = sorted({letter for each in code_by_character.values() for letter in each})
        fewest = len(SPECIAL) + len(BYTES) + len(letters)
        if size < fewest:
            raise ValueError(f"size is {size}; give at least {fewest}, so that every letter of the codes has a token")
        trainer = trainers.BpeTrainer(
            vocab_size=size - len(SPECIAL) - len(BYTES),
            min_frequency=2,
            initial_alphabet=letters,
            limit_alphabet=max(len(letters), (size - len(SPECIAL) - len(BYTES)) // 2),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer.model = _add_byte_tokens(tokenizer)
        tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
        ends = ((name, SPECIAL.index(name)) for name in ("[SEP]", "[CLS]"))
        tokenizer.post_processor = processors.BertProcessing(*ends)
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
        return cls(
            tokenizer_object=tokenizer,
            preferred="".join(
                each for each in order if each in code_by_character
            ),  # decoding gives these, of those spelt alike
            split_special_tokens=True,
            clean_up_tokenization_spaces=False,
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],  # a pair has sides
            **{f"{name[1:-1].lower()}_token": name for name in SPECIAL},
        )

    @cached_property
    def spellings(self) -> dict[str, str]:
        """The code of each character that has one."""
        codes = self._tokenizer.normalizer.normalize_str("\n".join([*HAN, *RESERVED])).split("\n")
        pairs = zip([*HAN, *RESERVED], codes, strict=True)
        return {character: code for character, code in pairs if code.endswith(END)}

    @cached_property
    def _character(self) -> dict[str, str]:
        """The character of each code: the most frequent one."""
        spelt, rank = (
            self.spellings,
            {character: place for place, character in enumerate(self.init_kwargs["preferred"])},
        )
        ranked = sorted(spelt, key=lambda character: (rank.get(character, len(rank)), character), reverse=True)
        return {spelt[character]: character for character in ranked}

    def decode_codes(self, codes: str) -> str:
        """Return the text that codes stand for; what is no whole code becomes the sign for an unreadable character."""
        known = {JOINT: "", 2 * JOINT: JOINT, **self._character}
        return CODE.sub(lambda match: known.get(match[0], "�"), codes)

    def save_pretrained(self, save_directory: str | PathLike[str], *args: Any, **options: Any) -> tuple[str, ...]:
        """Write the folder; `AutoTokenizer` is told to take `tokenizer.json` as it is, also beside a config of BERT."""
        files = super().save_pretrained(save_directory, *args, **options)
        path = Path(save_directory) / "tokenizer_config.json"
        config = {**json.loads(path.read_text(encoding="utf-8")), "tokenizer_class": "PreTrainedTokenizerFast"}
        path.write_text(json.dumps(config, ensure_ascii=False, indent=2), encoding="utf-8")
        return tuple(files)

    def format_tokens(self, text: str) -> list[str]:
        """Return the tokens of a text as people can read them."""
        return [format_codes(token) for token in self.tokenize(text)]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        return self.decode_codes(str(super().convert_tokens_to_string(list(tokens))))

    def _decode(self, *arguments: Any, **options: Any) -> str:
        return self.decode_codes(str(super()._decode(*arguments, **options)))


def _add_byte_tokens(tokenizer: Tokenizer) -> Any:
    """Return the model that was learnt with the special tokens first, and the bytes that unknown characters become."""
    state = json.loads(tokenizer.to_str())["model"]
    names = [*SPECIAL, *BYTES, *sorted(state["vocab"], key=state["vocab"].__getitem__)]
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in state["merges"])
    merges = [(str(left), str(right)) for left, right in pairs]
    vocabulary = {name: index for index, name in enumerate(names)}
    return models.BPE(vocab=vocabulary, merges=merges, unk_token=SPECIAL[1], byte_fallback=True, fuse_unk=False)
