"""Noise over Arrow tables: the rows that `Dataset.map` makes, for engines whose batches are tables.

>>> import pyarrow as pa
>>> from lapsus.perturbations.core import Shout
>>> from lapsus.perturbations.noise import Noise
>>> table = pa.table({"id": ["u1"], "text": ["slow down"], "n": [3]})
>>> perturb_table([Noise(Shout(), text="text", id="id")], table).select(["n", "text", "clean_text"]).to_pylist()
[{'n': 3, 'text': 'slow down!', 'clean_text': 'slow down'}]
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lapsus.core.conversations import ROLES
from lapsus.io.json_columns import is_json_list, list_column, make_array
from lapsus.perturbations.noise import Noise, list_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def perturb_schema(schema: Any, noise: Noise) -> Any:
    """Return the Arrow schema of the noisy rows; the other columns keep what `datasets` notes of them."""
    import pyarrow as pa

    notes = json.loads((schema.metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    schema = schema.remove_metadata()  # it describes the clean columns only
    places = [("turn", pa.int64()), ("part", pa.int64())] if noise.turns else []
    edits = pa.list_(pa.struct([*places, ("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())]))
    added = {clean: schema.field(name).type for clean, name in noise.clean_columns().items()}
    added["edits"] = edits if len(noise.columns) == 1 else pa.struct([(name, edits) for name in noise.columns])
    added |= {"operator": pa.string()} | ({noise.reason_column: pa.string()} if noise.reason_column else {})
    for name, kind in added.items():
        index = schema.get_field_index(name)
        schema = schema.append(pa.field(name, kind)) if index < 0 else schema.set(index, pa.field(name, kind))
    unchanged = {name: feature for name, feature in notes.items() if name in schema.names and name not in added}
    if not unchanged:
        return schema
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": unchanged}})})


def list_input_columns(noise: Noise, columns: Sequence[str]) -> list[str]:
    """Return the columns that a noise reads of rows that have `columns`; of noisy rows also the clean ones."""
    names = dict.fromkeys(list_columns(noise))
    if {*noise.clean_columns(), "edits", "operator"} <= {*columns}:
        names |= dict.fromkeys((*noise.clean_columns(), "edits", "operator"))
    return list(names)


def perturb_table(noises: Sequence[Noise], table: Any) -> Any:
    """Return the table with what the noises write; each is put on what the ones before made.

    Raises ValueError that names operator and row where an operator fails.
    """
    import pyarrow as pa

    first, *_ = noises
    schema = perturb_schema(table.schema, first)
    if not table.num_rows:
        return schema.empty_table()
    batch = {name: list_column(table.column(name)) for name in list_input_columns(first, table.column_names)}
    output: dict[str, Any] = {}
    for noise in noises:
        output |= _perturb_batch(noise, batch | output)
    return pa.Table.from_arrays(
        [
            make_array(output[field.name], field.type) if field.name in output else table.column(field.name)
            for field in schema
        ],
        schema=schema,
    )


def _perturb_batch(noise: Noise, batch: Mapping[str, Any]) -> dict[str, Any]:
    """Perturb a batch; where that fails, find the row that it fails on."""
    try:
        return noise(batch)
    except Exception as error:
        if isinstance(error, ImportError) or type(error) is LookupError:  # no extra, or no column, whatever the row
            raise
        for index in range(len(batch[noise.columns[0]])):
            row = {name: values[index : index + 1] for name, values in batch.items()}
            try:
                noise(row)
            except Exception as fault:
                label = f"with the id {row[noise.id][0]!r}" if noise.id else repr(row[noise.columns[0]][0])[:60]
                raise ValueError(
                    f"{noise.op.name} fails on the row {label} ({type(fault).__name__}: {fault}); "
                    "mend the row, or leave it out"
                ) from fault
        raise ValueError(f"{noise.op.name} fails on a batch of rows ({type(error).__name__}: {error})") from error


def perturb_block(table: Any, noise: Noise) -> Any:
    """Return a block of a `ray.data.Dataset` with noise; a plain task, as actors can starve the readers of CPUs."""
    return perturb_table([fit_to_schema(noise, table.schema)], table)


def fit_to_schema(noise: Noise, schema: Any) -> Noise:
    """Return the noise that knows what the columns of an Arrow schema hold: messages, or tags as numbers."""
    if schema is None:
        return noise
    column = noise.columns[0]
    if noise.turns is None and column in schema.names and _is_messages_type(schema.field(column).type):
        noise = replace(noise, turns="all")
    if b"huggingface" not in (schema.metadata or {}):
        return noise
    from datasets import Features

    return noise.fit_to_features(Features.from_arrow_schema(schema))


def _is_messages_type(kind: Any) -> bool:
    """Return whether an Arrow type is one of lists of messages."""
    import pyarrow as pa

    if is_json_list(kind):
        return True
    inner = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else kind
    return pa.types.is_struct(inner) and not {field.name for field in inner}.isdisjoint(ROLES)
