"""What real human input costs a language model.

>>> import lapsus
>>> lapsus.__version__.count(".")
2
"""

from importlib.metadata import version

__version__ = version("lapsus")
