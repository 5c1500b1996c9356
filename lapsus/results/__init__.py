"""From predictions of any origin to tables, tests and one page."""
