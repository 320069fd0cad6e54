"""The table of counts and its algebra.

Read in this order: ``sums`` (the protocol of sums), ``rounding``, ``exact`` and ``sparse`` (kinds
of sums), ``cells`` (what is counted besides the class), ``statistic`` (the contract of what is
counted) with ``categories``, ``moments``, ``histogram`` (and where it is cut into bins),
``words``, ``amounts`` and their ``registry``, ``table`` (the sums of one block of
columns) and ``counts`` (all blocks: ``+``, ``-``, ``*``, ``==``).
"""
