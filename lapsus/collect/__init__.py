"""Sets like P̂aRTE: pairs of sentences put in other words by a model, judged by people, built in the published schema.

`propose` asks generators and writes sheets, `judge` is the page for judging, `pair` builds what the judges accepted.
"""
