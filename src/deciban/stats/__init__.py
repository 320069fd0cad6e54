"""The table of counts and its algebra.

Read in this order: ``sums`` (the protocol of sums), ``rounding``, ``exact`` and ``sparse`` (kinds
of sums), ``cells`` and ``grid`` (what is counted besides the class), ``cuts`` (where a grid is cut
into bins), ``statistic`` (the contract of what is counted) with ``categories``, ``moments``,
``histogram``, ``words``, ``amounts`` and their ``registry``, ``table`` (the sums of one block of
columns) and ``counts`` (all blocks: ``+``, ``-``, ``*``, ``==``).
"""
