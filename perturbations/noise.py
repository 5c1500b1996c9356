"""Noise for whole datasets: the callable that `Dataset.map` takes.

>>> from lapsus.perturbations.core import Shout
>>> row = Noise(Shout(), text="text", id="id")({"id": "u1", "text": "slow down"})
>>> row["text"], row["clean_text"], row["edits"]
('slow down!', 'slow down', [{'start': 9, 'end': 9, 'text': '!'}])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from lapsus.core.conversations import ROLES, is_messages
from lapsus.core.edits import Edit, Span, apply, parse_edits
from lapsus.perturbations.answers import check_answers_move, move_answers
from lapsus.perturbations.composition import compose_edits
from lapsus.perturbations.conversations import (
    TURNS,
    Turns,
    draw_people,
    find_pasted,
    join_conversations,
    read_conversations,
    split_conversations,
)
from lapsus.perturbations.core import Constraints, Operator, Proposal, list_versions, make_constraints, propose
from lapsus.perturbations.protection import compile_pattern, find_matches, find_words, list_values, merge_spans
from lapsus.perturbations.tokens import Utterance, apply_tags, parse_utterance, perturb_tokens_batch

if TYPE_CHECKING:
    from lapsus.perturbations.transform import NoiseTransform

T = TypeVar("T")
Row: TypeAlias = Mapping[str, Any]
Keys: TypeAlias = Sequence[str | None] | None  # of a batch, where the rows have keys


def format_operator(op: Operator, seed: int, choice: Operator | None = None) -> str:
    """Return what a noisy row records of its origin: the operator with its version and settings, and the seed.

    >>> from lapsus.perturbations.core import Mixture, Shout
    >>> format_operator(Mixture("loud", (Shout(),)), 0, Shout())
    "loud: Shout(name='shout', version='1') seed=0"
    """
    origin = f"{op!r}" if choice is None or choice is op else f"{op.name}: {choice!r}"
    return f"{origin} seed={seed}"


@dataclass(frozen=True, slots=True)
class Noise:
    """Perturb a column of a dataset; give it to `Dataset.map`, with or without `batched=True`.

    Args:
        op: The operator.
        text: The column to perturb: texts, or with `tags` the tokens. Several columns of text may be named; each
            gets its own noise, and `edits` then holds a list per column. One person enters them in one session.
            A column of messages is a conversation: the turns of its user are perturbed, by one person.
        id: The column with the example's id, from which its noise is drawn, wherever the row stands.
        seed: Another seed, other noise.
        tags: The column with BIO tags; the row then holds `tokens`, `tags` and their clean twins.
        tag_names: What the tags are called where the column holds numbers, as `ClassLabel` does; `map` sees to it.
        answers: The column with SQuAD answers (`text`, `answer_start`) within `text`; they stay whole and are moved.
        context: The column with what the texts are about, such as a passage; `en_repair` takes words from it.
        turns: Which turns of the user to perturb, where the column holds messages: `all`, the `first` or the `last`.
        protect: Words never touched.
        protect_slots: Labels of slots never touched.
        protect_columns: Columns whose values are never touched where they stand in the text, as whole words.
        protect_patterns: Regular expressions whose matches are never touched.
        reason_column: A column to write why a row is unchanged (None where it changed).
        on_error: What to do with a row that cannot be perturbed, as with tags of another length: `raise` an error that
            names the row, or `keep` the row unchanged.
        epoch: Another epoch of training, other noise; `transform` counts it.

    The row gains `clean_<column>`, `edits` and `operator`; `apply(clean, edits)` is the noisy text.
    Where the row is noisy already, the noises compose: `clean_<column>` stays, `edits` still lead from it to the noisy
    text, and `operator` names both.
    `noise.map(dataset)` is `dataset.map(noise, batched=True, features=noise.features(dataset.features))`: naming the
    features matters where an operator leaves many rows alone, since Arrow otherwise guesses them from the first rows.
    """

    op: Operator
    text: str | tuple[str, ...] = "text"
    id: str | None = None
    seed: int = 0
    tags: str | None = None
    tag_names: tuple[str, ...] = ()
    answers: str | None = None
    context: str | None = None
    turns: Turns | None = None
    protect: tuple[str, ...] = ()
    protect_slots: tuple[str, ...] = ()
    protect_columns: tuple[str, ...] = ()
    protect_patterns: tuple[str, ...] = ()
    reason_column: str | None = None
    on_error: Literal["raise", "keep"] = "raise"
    epoch: int = 0
    lapsus: str = version("lapsus")  # in the state, so that `map` never reuses the rows of another release
    released: tuple[str, ...] = field(init=False, repr=False)  # in the state likewise, for the operators

    def __post_init__(self) -> None:
        object.__setattr__(self, "released", list_versions(self.op))
        for name in ("seed", "epoch"):
            object.__setattr__(self, name, check_whole_number(name, getattr(self, name)))
        if not isinstance(self.text, str):
            object.__setattr__(self, "text", tuple(self.text))
        if len(self.columns) > 1 and (self.tags or self.answers):
            raise ValueError(f"tags and answers belong to one column, but {self.columns} are named; name one")
        if self.tags and self.context:
            raise ValueError(f"the context {self.context!r} belongs to a column of texts; name no tags beside it")
        if self.tags and self.answers:
            raise ValueError("answers lie in a text and tags belong to tokens; give one of both")
        if self.turns is not None:
            self._check_conversation()
        for pattern in self.protect_patterns:
            compile_pattern(pattern)

    def _check_conversation(self) -> None:
        """Raise where the settings do not fit a column of messages."""
        if self.turns not in (None, *TURNS):
            raise ValueError(f"turns is {self.turns!r}; choose one of {', '.join(TURNS)}")
        if len(self.columns) > 1 or self.tags or self.answers:
            raise ValueError(
                f"{self.columns[0]!r} holds messages, which are perturbed alone; name no other column, tags or answers"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to perturb."""
        return (self.text,) if isinstance(self.text, str) else self.text

    def __call__(self, rows: Row) -> dict[str, Any]:
        """Perturb one row or a batch of rows."""
        for name in list_columns(self):
            if name not in rows:
                raise LookupError(f"no column is called {name!r}; the rows have {', '.join(rows)}")
        if _is_row(rows, self.columns[0], tokens=self.tags is not None):
            return {
                name: values[0] for name, values in self._perturb_batch({name: [rows[name]] for name in rows}).items()
            }
        return self._perturb_batch(rows)

    def map(self, dataset: Any, **options: Any) -> Any:
        """Perturb a dataset, or each split of several; `options` are those of `Dataset.map`, such as `num_proc`."""
        if isinstance(dataset, dict):
            return type(dataset)({split: self.map(rows, **options) for split, rows in dataset.items()})
        if dataset.features is None:  # a stream may not know its own
            return dataset.map(self, batched=True, **options)
        features = self.features(dataset.features)
        return dataset.map(self.fit_to_features(dataset.features), batched=True, features=features, **options)

    def transform(self, epoch: int = 0, *, edits: bool = False) -> NoiseTransform:
        """Return a function for `Dataset.with_transform` or `IterableDataset.map`: other noise in every epoch.

        `transform.set_epoch(1)` begins the next one, also in the running workers of a DataLoader. With `edits`, rows
        gain `edits` and `operator` too.
        """
        from lapsus.perturbations.transform import NoiseTransform

        return NoiseTransform(self, epoch, edits=edits)

    def map_ray(self, dataset: Any, *, batch_size: int = 1000, **options: Any) -> Any:
        """Perturb a `ray.data.Dataset`: the rows that `map` makes of a `datasets.Dataset`, on the cluster's machines.

        `options` are those of its `map_batches`, such as `num_cpus`. A small file is one block, which one worker
        takes: `noise.map_ray(dataset.repartition(32))`.
        """
        from lapsus.perturbations.arrow import perturb_block

        return dataset.map_batches(
            perturb_block, fn_kwargs={"noise": self}, batch_size=batch_size, batch_format="pyarrow", **options
        )

    def fit_to_features(self, features: Any) -> Noise:
        """Return the noise that knows what a dataset's features hold: messages, or the names of the tags."""
        names = getattr(getattr(features.get(self.tags), "feature", None), "names", ())
        noise = replace(self, tag_names=tuple(names)) if names else self
        return replace(noise, turns="all") if noise.turns is None and self._reads_messages(features) else noise

    def _reads_messages(self, features: Any) -> bool:
        feature = features.get(self.columns[0])
        inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
        return type(inner).__name__ == "Json" or (isinstance(inner, Mapping) and not inner.keys().isdisjoint(ROLES))

    def features(self, features: Any) -> Any:
        """Return a dataset's features with the columns that noise adds, for `Dataset.map(features=...)`."""
        from datasets import Features, List, Value

        places = ("turn", "part") if self.turns or self._reads_messages(features) else ()
        numbers = {name: Value("int64") for name in (*places, "start", "end")}
        edits: Any = List({**numbers, "text": Value("string")})
        if len(self.columns) > 1:
            edits = dict.fromkeys(self.columns, edits)
        added = {clean: features.get(clean, features[name]) for clean, name in self.clean_columns().items()}
        if self.reason_column:
            added[self.reason_column] = Value("string")
        return Features({**features, **added, "edits": edits, "operator": Value("string")})

    def _perturb_batch(self, rows: Row) -> dict[str, Any]:
        """Perturb a batch, in which every column is a list; where it is noisy already, compose both noises."""
        if self.turns or any(not isinstance(cell, str) and is_messages(cell) for cell in rows[self.columns[0]]):
            return self._perturb_conversations(rows)
        if any(isinstance(cell, Mapping) for cells in rows.values() for cell in cells):
            check_answers_move(rows, self.columns, list_columns(self))
        output = self._perturb_rows(rows)
        return self._compose_with_recorded(rows, output) if self.is_noisy(rows) else output

    def _perturb_conversations(self, rows: Row) -> dict[str, Any]:
        """Perturb the user's turns in a batch of conversations."""
        self._check_conversation()
        column, ids = self.columns[0], self._read_keys(rows)
        noisy = self.is_noisy(rows)
        if noisy:  # rows of published datasets hold edits by column
            old_edits = [edits[column] if isinstance(edits, Mapping) else edits for edits in rows["edits"]]
            known = {**rows, "edits": old_edits}
        else:
            known = {name: cells for name, cells in rows.items() if name != f"clean_{column}"}
        conversations = read_conversations(
            rows[column],
            ids or [str(number) for number in range(len(rows[column]))],
            self.turns or "all",
            raises=self.on_error == "raise",
        )
        extra = [name for name in (self.context, *self.protect_columns) if name]
        turns = split_conversations(known, conversations, ids, column, extra)
        people = draw_people(self._start_streams(turns.names, dict(enumerate(turns.names))) or [], self.seed)
        output = self._add_records(*self._perturb_texts(turns.columns, column, turns.keys, turns.names, people))
        if noisy:
            id_name = self.id or ""
            output = self._compose_with_recorded({**turns.columns, id_name: turns.keys}, output)
        origin = self._format_origin(self.op)
        return join_conversations(known, conversations, output, column, origin=origin, reason_column=self.reason_column)

    def _read_keys(self, rows: Row) -> list[str | None] | None:
        return [None if key is None else str(key) for key in rows[self.id]] if self.id else None

    def is_noisy(self, names: Iterable[str]) -> bool:
        """Return whether rows with columns of these names are already noisy, by `Noise` in the same columns.

        Raises ValueError where they are noisy in a way that this noise cannot be added to.
        """
        present, expected = {name for name in names if name.startswith("clean_")}, self.clean_columns()
        if not present & expected.keys():
            return False
        known = {*names}
        if present == expected.keys() and {"edits", "operator"} <= known:
            return True
        if present != expected.keys():
            noisy, needed = (", ".join(sorted(columns)) for columns in (present, expected))
            raise ValueError(f"the rows have {noisy}, and this noise needs {needed}; perturb the same columns again")
        raise ValueError(
            f"the rows have {', '.join(sorted(present))} but no edits and operator beside; "
            "perturb the clean column, or rename the others"
        )

    def clean_columns(self) -> dict[str, str]:
        """Return what the clean twin of each noisy column is called."""
        return {f"clean_{name}": name for name in (*self.columns, *filter(None, [self.tags]))}

    def _compose_with_recorded(self, rows: Row, output: dict[str, Any]) -> dict[str, Any]:
        """Return the `output` of noisy rows with edits that begin at the clean texts.

        Rows of published datasets hold edits by column, also where one column is noisy.
        """
        if len(self.columns) == 1:
            (column,) = self.columns
            edits = [old[column] if isinstance(old, Mapping) else old for old in rows["edits"]]
            rows = {**rows, "edits": edits}
        for i, old in enumerate(rows["edits"]):
            lists, fault = self._compose_row(rows, output, i)
            if fault is None:
                dicts = {name: [edit._asdict() for edit in edits] for name, edits in lists.items()}
                output["edits"][i] = dicts if len(dicts) > 1 else dicts[self.columns[0]]
                output["operator"][i] = f"{rows['operator'][i]} then {output['operator'][i]}"
            else:
                for name in self.clean_columns().values():
                    output[name][i] = rows[name][i]
                output["edits"][i], output["operator"][i] = old, rows["operator"][i]
            if self.reason_column and (fault or any(lists.values())):
                output[self.reason_column][i] = fault
        return output | {name: list(rows[name]) for name in self.clean_columns()}

    def _compose_row(
        self, rows: Row, output: Mapping[str, Any], i: int
    ) -> tuple[dict[str, tuple[Edit, ...]], str | None]:
        """Return the edits of each column of a row by both noises, or what is wrong with them."""
        lists: dict[str, tuple[Edit, ...]] = {}
        for name in self.columns:
            clean, noisy = (
                " ".join(value or ()) if self.tags else value or ""
                for value in (rows[f"clean_{name}"][i], rows[name][i])
            )
            before, after = rows["edits"][i], output["edits"][i]
            if len(self.columns) > 1:
                before, after = (before or {}).get(name), after[name]
            try:
                replayed = apply(clean, parse_edits(before))
            except ValueError:
                replayed = None
            if replayed != noisy:
                fault = f"the edits of the row do not lead from clean_{name} to {name}"
                if self.on_error == "raise":
                    raise ValueError(f"row {(rows[self.id][i] if self.id else i)!r}: {fault}; perturb the clean text")
                return {}, fault
            lists[name] = compose_edits(clean, parse_edits(before), parse_edits(after))
        if self.tags and lists[self.columns[0]]:
            utterance = self._read_utterance(rows[f"clean_{self.columns[0]}"][i], rows[f"clean_{self.tags}"][i])
            tags = apply_tags(utterance.tokens, utterance.tags or (), lists[self.columns[0]])
            if self._encode_tags(tags) != output[self.tags][i]:
                return {}, "the tags would not follow the edits of both noises"
        return lists, None

    def _perturb_rows(self, rows: Row) -> dict[str, Any]:
        """Perturb a batch as if it were clean."""
        keys = self._read_keys(rows)
        if self.tags:
            return self._add_records(*self._perturb_tokens(rows, keys))
        if len(self.columns) == 1:
            return self._add_records(*self._perturb_texts(rows, self.columns[0], keys))
        output: dict[str, Any] = {}
        records: dict[str, list[_Record]] = {}
        for column in self.columns:
            column_keys = keys and [key and f"{key}/{column}" for key in keys]
            columns, records[column] = self._perturb_texts(rows, column, column_keys, keys)
            output |= columns
        row_records = [
            _Record(
                dict(zip(records, (record.edits for record in row), strict=True)),
                " / ".join(dict.fromkeys(record.operator for record in row)),
                None if any(record.reason is None for record in row) else row[0].reason,
            )
            for row in zip(*records.values(), strict=True)
        ]
        return self._add_records(output, row_records)

    def _add_records(self, columns: dict[str, Any], records: Sequence[_Record]) -> dict[str, Any]:
        """Add what every noisy row records."""
        columns["edits"] = [record.edits for record in records]
        columns["operator"] = [record.operator for record in records]
        if self.reason_column:
            columns[self.reason_column] = [record.reason for record in records]
        return columns

    def _perturb_texts(
        self, rows: Row, column: str, keys: Keys, sessions: Keys = None, people: Sequence[int] | None = None
    ) -> tuple[dict[str, Any], list[_Record]]:
        """Perturb a column of texts, and move the answers that lie in it; `people` write the turns of conversations."""
        texts: Sequence[Any] = rows[column]
        answers: Sequence[Any] = rows[self.answers] if self.answers else [None] * len(texts)
        constraint_sets, faults = self._check_rows(make_constraints, texts, answers, keys)
        if self._protects or people is not None:
            constraint_sets = {
                i: constraints._replace(protected=self._find_protected(rows, i, texts[i], pasted=people is not None))
                for i, constraints in constraint_sets.items()
            }
        if self.context:
            contexts = rows[self.context]
            constraint_sets = {
                i: constraints._replace(context=str(contexts[i] or "")) for i, constraints in constraint_sets.items()
            }
        is_free = not (self.answers or self.context or self._protects) and people is None
        proposals = self._propose(
            texts,
            keys,
            {i: None if is_free else constraints for i, constraints in constraint_sets.items()},
            sessions,
            people,
        )
        noisy = [apply(texts[i], proposals[i].edits) if i in proposals else texts[i] for i in range(len(texts))]
        output: dict[str, Any] = {column: noisy, f"clean_{column}": list(texts)}
        if self.answers:
            output[self.answers] = [
                move_answers(answers[i], proposals[i].edits, noisy[i], constraint_sets[i].spans)
                if i in proposals
                else answers[i]
                for i in range(len(texts))
            ]
        return output, self._make_records(texts, proposals, faults)

    @property
    def _protects(self) -> bool:
        return bool(self.protect or self.protect_columns or self.protect_patterns)

    def _find_protected(self, rows: Row, i: int, text: str, *, pasted: bool = False) -> tuple[Span, ...]:
        """Return what of the text of a row no edit may touch."""
        values = [value for name in self.protect_columns for value in list_values(rows[name][i])]
        return merge_spans(
            [
                *find_words(text, (*self.protect, *values)),
                *find_matches(text, self.protect_patterns),
                *(find_pasted(text) if pasted else ()),
            ]
        )

    def _propose(
        self,
        texts: Sequence[Any],
        keys: Keys,
        constraint_sets: Mapping[int, Constraints | None],
        sessions: Keys = None,
        people: Sequence[int] | None = None,
    ) -> dict[int, Proposal]:
        """Return the proposals for the rows that have constraints."""
        active = [constraints for constraints in constraint_sets.values() if constraints is not None]
        proposals = propose(
            self.op,
            [texts[i] for i in constraint_sets],
            seed=self.seed,
            keys=self._start_streams(keys, {i: texts[i] for i in constraint_sets}),
            constraint_sets=active or None,
            sessions=None if sessions is None else self._start_streams(sessions, constraint_sets),
            people=None if people is None else [people[i] for i in constraint_sets],
        )
        return dict(zip(constraint_sets, proposals, strict=True))

    def _start_streams(self, keys: Keys, texts: Mapping[int, Any]) -> list[str] | None:
        """Return what the noise of some rows is drawn from: the epoch with their key, or with their text."""
        if keys is None and not self.epoch:
            return None  # the texts
        prefix = f"epoch {self.epoch}/" if self.epoch else ""  # before the key, whose last digits tell the block
        return [f"{prefix}{text if keys is None else keys[i]}" for i, text in texts.items()]

    def _perturb_tokens(self, rows: Row, keys: Keys) -> tuple[dict[str, Any], list[_Record]]:
        """Perturb a column of tokens with its column of tags."""
        column, tag_column = self.columns[0], str(self.tags)
        tokens, tags = list(rows[column]), list(rows[tag_column])
        utterances, faults = self._check_rows(self._read_utterance, tokens, tags, keys)
        protected = {
            i: self._find_protected(rows, i, utterance.text) for i, utterance in utterances.items() if self._protects
        }
        noisy = dict(
            zip(
                utterances,
                perturb_tokens_batch(
                    self.op,
                    list(utterances.values()),
                    seed=self.seed,
                    keys=self._start_streams(keys, {i: utterance.text for i, utterance in utterances.items()}),
                    protect_slots=self.protect_slots,
                    protected=list(protected.values()) or None,
                ),
                strict=True,
            )
        )
        for i in [i for i, noisy_tokens in noisy.items() if not self._can_encode_tags(noisy_tokens.tags)]:
            del noisy[i]
            faults[i] = "the noisy tokens need a tag that the dataset has no name for"
        output: dict[str, Any] = {
            column: [noisy[i].tokens if i in noisy else tokens[i] for i in range(len(tokens))],
            tag_column: [self._encode_tags(noisy[i].tags) if i in noisy else tags[i] for i in range(len(tokens))],
            f"clean_{column}": tokens,
            f"clean_{tag_column}": tags,
        }
        texts = [utterances[i].text if i in utterances else "" for i in range(len(tokens))]
        proposals = {i: Proposal(noisy_tokens.edits, noisy_tokens.operator) for i, noisy_tokens in noisy.items()}
        return output, self._make_records(texts, proposals, faults)

    def _read_utterance(self, tokens: Any, tags: Any) -> Utterance:
        """Read one utterance, its tags by name."""
        if tokens is None or tags is None:
            raise TypeError("tokens or tags are missing; give both")
        if self.tag_names:
            tags = [self.tag_names[tag] if tag in range(len(self.tag_names)) else tag for tag in tags]
        if any(not isinstance(tag, str) for tag in tags):
            raise TypeError(f"the tags {list(tags)[:3]} are not names; use noise.map(dataset), or give tag_names")
        return parse_utterance(tokens, tags)

    def _can_encode_tags(self, tags: Any) -> bool:
        return not self.tag_names or set(tags) <= set(self.tag_names)

    def _encode_tags(self, tags: Any) -> Any:
        return [self.tag_names.index(tag) for tag in tags] if tags and self.tag_names else tags

    def _check_rows(
        self,
        read: Callable[[Any, Any], T],
        values: Sequence[Any],
        labels: Sequence[Any],
        keys: Keys,
    ) -> tuple[dict[int, T], dict[int, str]]:
        """Read each row; a row that cannot be read raises, or is kept with the reason."""
        parsed: dict[int, T] = {}
        faults: dict[int, str] = {}
        for i, row in enumerate(zip(values, labels, strict=True)):
            try:
                if keys is not None and keys[i] is None:
                    raise ValueError("the key is missing; give every row an id")  # noqa: TRY301 - told as any other fault
                parsed[i] = read(*row)
            except (TypeError, ValueError) as error:
                if self.on_error == "raise":
                    name = f"row {i} of the batch" if keys is None else f"row {keys[i]!r}"
                    raise type(error)(f"{name}: {error}") from error
                faults[i] = str(error)
        return parsed, faults

    def _format_origin(self, operator: Operator) -> str:
        return format_operator(self.op, self.seed, operator) + (f" epoch={self.epoch}" if self.epoch else "")

    def _make_records(
        self, texts: Sequence[str], proposals: Mapping[int, Proposal], faults: Mapping[int, str]
    ) -> list[_Record]:
        """Record each row; an operator is written out once."""
        signatures: dict[int, str] = {}
        records = []
        for i, text in enumerate(texts):
            edits, operator = proposals.get(i, Proposal((), self.op))
            if id(operator) not in signatures:
                signatures[id(operator)] = self._format_origin(operator)
            reason = None if edits else faults.get(i) or explain_no_edits(operator, text)
            records.append(_Record([edit._asdict() for edit in edits], signatures[id(operator)], reason))
        return records


def check_whole_number(name: str, value: Any) -> int:
    """Return a seed or the number of an epoch; None, text and True are none.

    >>> check_whole_number("seed", None)
    Traceback (most recent call last):
    ...
    TypeError: the seed is None; give a whole number, such as 0
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"the {name} is {value!r}; give a whole number, such as 0")
    return index(value)


def list_columns(noise: Noise) -> tuple[str, ...]:
    """Return the columns that a noise names."""
    columns = (*noise.columns, noise.id, noise.tags, noise.answers, noise.context, *noise.protect_columns)
    return tuple(dict.fromkeys(filter(None, columns)))


def apply_in_turn(noises: Iterable[Noise], rows: Row) -> dict[str, Any]:
    """Return what several noises make of a batch, each put on what the ones before made.

    >>> from lapsus.perturbations.core import Shout
    >>> made = apply_in_turn([Noise(Shout()), Noise(Shout(), seed=1)], {"text": ["slow down"]})
    >>> made["text"], made["clean_text"], len(made["edits"][0])
    (['slow down!!'], ['slow down'], 2)
    """
    output: dict[str, Any] = {}
    for noise in noises:
        output |= noise({**rows, **output})
    return output


class _Record(NamedTuple):
    """What a noisy row records."""

    edits: Any
    operator: str
    reason: str | None


def explain_no_edits(op: Operator, text: str) -> str:
    """Return why `op` made no edits.

    >>> from lapsus.perturbations.core import Shout
    >>> explain_no_edits(Shout(), " ")
    'the text is empty'
    """
    if not text.strip():
        return "the text is empty"
    if not any(char.isalpha() for char in text):
        return "the text has no word"
    if reason := getattr(op, "untouched", lambda _: "")(text):  # operators of Chinese know what they cannot read
        return str(reason)
    return f"{op.name} finds nothing to change in this text"


def _is_row(rows: Row, column: str, *, tokens: bool) -> bool:
    """Return whether `rows` is a single row: in a batch every column is a list, of tokens a list of lists."""
    value = rows[column]
    if value is None or isinstance(value, str):
        return True
    if not len(value):
        return any(cell is None or isinstance(cell, str) or not isinstance(cell, Sequence) for cell in rows.values())
    if isinstance(value[0], str):
        return tokens and all(isinstance(token, str) for token in value)
    return is_messages(value)
