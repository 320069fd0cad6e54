"""The table of counts and its algebra.

Read in this order: ``rounding``, ``exact`` and ``sparse`` (kinds of sums), ``cells`` and ``grid``
(what is counted besides the class), ``cuts`` (where a grid is cut into bins), ``table`` (the sums
of one block of columns) and ``counts`` (all blocks: ``+``, ``-``, ``*``, ``==``).
"""
