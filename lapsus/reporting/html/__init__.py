"""The report as one HTML page.

`render` makes the page from chapters, one per dataset. `headline` writes the top of a chapter, and `sections` what
follows, made of `plots` and `tables`. `examples` holds all examples for the search on the page.
"""
