"""Queries compared by their clauses, as Spider's exact set match does (Yu et al. 2018, section 5), and by results."""

from __future__ import annotations

import pytest

from lapsus.evaluation.answer_types import SqlAnswer
from lapsus.evaluation.sql import format_schema, match_clauses

GOLD = "SELECT T1.name, count(*) FROM singer AS T1 JOIN concert AS T2 ON T1.id = T2.singer_id WHERE T1.age > 20 AND T2.year = 2014 GROUP BY T1.name ORDER BY count(*) DESC LIMIT 3"


@pytest.mark.parametrize(
    "query",
    [
        GOLD,
        GOLD.lower(),
        GOLD.replace("T1.name, count(*)", "count(*), T1.name"),
        GOLD.replace("T1.age > 20 AND T2.year = 2014", "T2.year = 2014 AND T1.age > 20"),
        GOLD.replace("20", "99").replace("2014", "'other'"),
        GOLD.replace("T1", "a").replace("T2", "b"),
        GOLD.replace("T1", "singer")
        .replace("T2", "concert")
        .replace("singer AS singer", "singer")
        .replace("concert AS concert", "concert"),
    ],
)
def test_the_same_clauses(query):
    assert match_clauses(query, GOLD)


@pytest.mark.parametrize(
    "query",
    [
        GOLD.replace(", count(*) FROM", " FROM"),
        GOLD.replace("> 20", "< 20"),
        GOLD.replace("AND", "OR"),
        GOLD.replace("T1.age > 20 AND ", ""),
        GOLD.replace("GROUP BY T1.name", "GROUP BY T1.age"),
        GOLD.replace("DESC", "ASC"),
        GOLD.replace(" LIMIT 3", ""),
        GOLD.replace("SELECT", "SELECT DISTINCT"),
        GOLD.replace("T1.age > 20", "T2.age > 20"),
        GOLD.replace("singer AS T1", "band AS T1"),
        GOLD.replace("LIMIT 3", "LIMIT 3 UNION SELECT name, 1 FROM band"),
        "no SQL at all",
        "",
        f"SELECT {'(' * 3000}",
    ],
)
def test_other_clauses(query):
    assert not match_clauses(query, GOLD)


def test_nested_queries_and_set_operations():
    gold = "SELECT name FROM singer WHERE id NOT IN (SELECT singer_id FROM concert WHERE year > 2014)"
    assert match_clauses(gold.replace("2014", "1999"), gold)
    assert not match_clauses(gold.replace("year >", "year <"), gold)
    assert not match_clauses(gold.replace("NOT IN", "IN"), gold)
    union = "SELECT name FROM a UNION SELECT name FROM b"
    assert match_clauses(union.lower(), union) and not match_clauses(union.replace("UNION", "EXCEPT"), union)


def test_the_clauses_of_nested_queries_are_sets_too():
    gold = "SELECT name FROM singer WHERE id IN (SELECT id FROM concert WHERE year > 2014 AND place = 'x')"
    assert match_clauses(gold.replace("year > 2014 AND place = 'x'", "place = 'y' AND year > 1"), gold)
    assert not match_clauses(gold.replace("AND place", "OR place"), gold)
    assert not match_clauses(gold.replace(" AND place = 'x'", ""), gold)


def test_nested_queries_take_no_more_time_or_memory_than_their_text():
    gold = query = "SELECT name FROM singer"
    for _ in range(30):
        query = f"SELECT name FROM singer WHERE id IN ({query})"  # noqa: S608
    assert match_clauses(query, query) and not match_clauses(query, gold), "each level doubled what had been compared"


@pytest.mark.parametrize(
    "query", ["SELECT " + "a, " * 5000 + "a FROM singer", f"SELECT 1 LIMIT {'9' * 5000}", "\0", "SELECT \0"]
)
def test_what_cannot_be_parsed_has_no_clauses(query):
    assert not match_clauses(query, "SELECT name FROM singer")


def test_a_broken_right_answer_is_named():
    with pytest.raises(ValueError, match="is no SQL that can be read; mend the data"):
        match_clauses("SELECT 1", "SELEC name")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("The query with the answer is: SELECT name FROM singer", "SELECT name FROM singer"),
        ("SELECT name\nFROM singer\n\nThis lists the names; of all.", "SELECT name FROM singer"),
        ("```\nSELECT name\n\nFROM singer\n```\nIt lists names.", "SELECT name FROM singer"),
        ("With s as (SELECT 1) SELECT * FROM s; done", "With s as (SELECT 1) SELECT * FROM s"),
        ('WITH RECURSIVE "n" (i) AS(SELECT 1) SELECT i FROM n', 'WITH RECURSIVE "n" (i) AS(SELECT 1) SELECT i FROM n'),
        ("WITH s AS NOT MATERIALIZED (SELECT 1) SELECT 2", "WITH s AS NOT MATERIALIZED (SELECT 1) SELECT 2"),
        ("I can help with that, as you wish", None),
    ],
)
def test_where_a_query_begins_and_ends(said, meant):
    assert SqlAnswer().parse(said, {}) == meant


def test_tables_are_told_by_their_columns():
    schema = {
        "tables": [{"name": "a", "words": "甲"}, {"name": "b", "words": "乙"}],
        "columns": [
            {"table": -1, "name": "*"},
            {"table": 1, "name": "x"},
            {"table": 0, "name": "y"},
            {"table": 1, "name": "z"},
        ],
    }
    assert format_schema(schema) == "a(y)\nb(x, z)"
