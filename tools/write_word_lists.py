"""Write the lists of semantic edits that are made of shorter ones: `python tools/write_word_lists.py [--check]`.

They stand between marks in `perturbations/semantic/data/*.txt`: English verbs with their denied forms, English
commands, and Chinese numbers before each classifier. What stands outside of the marks is written by hand.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "perturbations" / "semantic" / "data"
BEGIN, END = "# written by tools/write_word_lists.py", "# end of what it wrote"
BLOCK = re.compile(rf"(?<={BEGIN}\n).*?(?={END}\n)", re.DOTALL)

# form after he, she and it; past; base: of verbs whose denial needs a word of its own
FORMS = """
talks talked talk / works worked work / wants wanted want / needs needed need / knows knew know / gets got get
goes went go / lives lived live / speaks spoke speak / plays played play / eats ate eat / comes came come
helps helped help / looks looked look / takes took take / makes made make / gives gave give / feels felt feel
thinks thought think / says said say / uses used use / sees saw see / likes liked like / loves loved love
tells told tell / finds found find / buys bought buy / drives drove drive / asks asked ask / calls called call
meets met meet / means meant mean / pays paid pay / writes wrote write / understands understood understand
receives received receive / wins won win / appears appeared appear / moves moved move / returns returned return
"""
VERBS = [tuple(forms.split()) for row in FORMS.strip().splitlines() for forms in row.split(" / ")]
COMMANDS = """
read start play remind delete cancel erase launch disable enable turn switch add send tell show give make create
describe remove repeat replay resume skip buy get go keep put take bring find wake notify check compose explain lower
increase decrease raise mute open close save schedule book order call email set change look search stop pause tweet
post reply record let display
"""
CLASSIFIERS = "个名座次位条种年岁天家部层支只架辆艘集场首项倍章届处所间张人队组轮级棵匹头台件"
OPPOSITES = ("大小", "高低", "长短", "早晚", "快慢", "强弱", "好坏", "宽窄", "厚薄", "深浅", "冷热")


def write_denied_verbs() -> Iterator[str]:
    """Yield the rules that deny a verb in the present and in the past."""
    for third, past, base in VERBS:
        yield f"{{he|she|it}} {third}<plain> > doesn't {base}"
        yield f"{{i|he|she|it|we|they|you}} {past}(?! to )<plain> > didn't {base}"


def write_insertions() -> Iterator[str]:
    """Yield the rules that put `don't` before a verb and before a command."""
    for _, _, base in VERBS:
        yield f"{{i|we|they|you}} {base}<plain> > don't _"
    for command in COMMANDS.split():
        yield f"{{please|olly|alexa|google}} {command}<object> > don't _"


def write_opening_commands() -> Iterator[str]:
    """Yield the rules that put `don't` before a command that opens a sentence."""
    for command in COMMANDS.split():
        yield f"{command}<object> > don't _"


def write_chinese_replacements() -> Iterator[str]:
    """Yield the numbers of each classifier, the days of the week, and opposites after a word of degree."""
    for classifier in CLASSIFIERS:
        yield _join("", "两三四五六七八九", classifier)
    for classifier in ("", *CLASSIFIERS):
        yield _join("第", "一二三四五六", classifier)
    for day in ("星期", "周", "礼拜"):
        yield _join(day, "一二三四五六日")
    yield _join("(?<![一-龥])", "两三四五六七八九", "<counted>")
    for pair in OPPOSITES:
        yield _join("<degree>", pair)
    for pair in OPPOSITES:
        yield f"{pair[0]}(?=[的、]) > {pair[1]}"
        yield f"{pair[1]}(?=[的、]) > {pair[0]}"


def _join(before: str, choices: str, after: str = "") -> str:
    return " / ".join(f"{before}{choice}{after}" for choice in choices)


BLOCKS = {  # file -> what stands between its marks, in order
    "en.txt": (write_denied_verbs, write_insertions, write_opening_commands),
    "zh.txt": (write_chinese_replacements,),
}


def fill_in(name: str, text: str) -> str:
    """Return a file with the lists between its marks written anew."""
    lists = iter(BLOCKS[name])
    if len(BLOCK.findall(text)) != len(BLOCKS[name]):
        raise ValueError(f"{name} has not {len(BLOCKS[name])} pairs of the marks {BEGIN!r} and {END!r}; put them back")
    return BLOCK.sub(lambda _: "".join(f"{line}\n" for line in next(lists)()), text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the lists, or say which file has others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file has other lists")
    options = parser.parse_args(arguments)
    for name in BLOCKS:
        path = FOLDER / name
        old = path.read_text(encoding="utf-8")
        new = fill_in(name, old)
        if options.check and new != old:
            raise SystemExit(f"{path} has other lists; run python tools/write_word_lists.py")
        if not options.check:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
