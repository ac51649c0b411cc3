"""Can a language model find a new solution to a mathematics problem? The CreativeMath experiment as a kit."""

__version__ = "0.1.0"
