"""The table of counts and its algebra.

Read in this order: ``cells`` (what is counted besides the class), ``table`` (the sums of one block
of columns, and the protocol of sums) with ``rounding``, ``exact`` and ``sparse`` (kinds of sums),
``statistic`` (the contract of what is counted) with ``categories``, ``moments``, ``histogram`` (and
where it is cut into bins), ``words``, ``amounts`` and their ``registry``, and ``counts`` (all
blocks: ``+``, ``-``, ``*``, ``==``).
"""
