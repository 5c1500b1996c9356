"""Read and write tables: rows of any format, joins by id, labels, logs of other harnesses."""
