"""Turn predictions of any origin into tables, tests and one HTML page."""
