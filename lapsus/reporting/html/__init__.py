"""The report as one HTML page.

`render` makes the page from chapters, one per dataset. `lead` writes the first sentence of a chapter, `headline` the
matrix and what the tests support, and `sections` what follows, made of `plots` and `tables`. `examples` holds all
examples for the search on the page.
"""
