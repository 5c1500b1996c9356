"""Systems of papers, made again: they use lapsus as any other package does, and nothing else in lapsus imports them.

What they add is found by entry points (`lapsus.commands`, `lapsus.selectors`, `lapsus.text_metrics`); the extra
`papers` installs what they need.
"""
