"""Discrete values: their shares by all three methods, as ``kernels/discrete.pyx`` computes them.

For counts ``N_a`` of the values ``a = 1..S`` with ``n = sum N_a``, under the
prior Dirichlet(lam, ..., lam):

=========  ===================================  =================================
method     prediction rule                      formula
=========  ===================================  =================================
``ml``     the likeliest parameter              ``N_a / n``
``map``    the mode of the posterior            ``(N_a + lam - 1) / (n + S (lam - 1))``
``bayes``  the parameter integrated out         ``(N_a + lam) / (n + S lam)``
=========  ===================================  =================================

The mode of a posterior with ``N_a + lam < 1`` lies on the boundary: such a
value gets nothing. With ``lam = 1`` the prior is flat and ``map`` is ``ml``;
with ``lam = 0`` ``bayes`` is ``ml``. Where that leaves 0 / 0, nothing is known
and all values are alike: ``1 / S``, the limit of a vanishing ``lam``.

A value that was never seen is no value of small count: ``lam / (n + S lam)`` would be larger in
every class of fewer rows, and so speak for the rarer class. Left out, a value that one row alone
has was never seen, and says with which classes new values come: ``log_unseen_shares``.
"""

from __future__ import annotations

from typing import Literal

#: What a value never seen in training says.
UnseenSays = Literal["leave_one_out", "smooth", "skip"]

#: A row that a class cannot have costs this many nats.
MAX_ROW_LOSS = 700.0
