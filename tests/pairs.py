"""AODE in plain Python, for the tests: loops over rows, no tables."""

import math


class Oracle:
    """Rows of values, None where one is missing; ``m`` rows of smoothing."""

    def __init__(self, rows, y, weight=None, m=1.0, hole=False, sizes=None):
        weight = [1.0] * len(rows) if weight is None else weight
        self.rows = list(zip(rows, y, weight, strict=True))
        self.m, self.d = m, len(rows[0])
        self.classes = sorted(set(y))
        self.holes = [hole and any(row[j] is None for row in rows) for j in range(self.d)]
        self.sizes = sizes or [
            max(1, len({row[j] for row in rows} - {None}) + self.holes[j]) for j in range(self.d)
        ]

    def known(self, row, j):
        return row[j] is not None or self.holes[j]

    def weight(self, wanted, c, j=None):
        """Rows of a class with these values {column: value}, in which column j is known."""
        return math.fsum(
            w
            for row, label, w in self.rows
            if label == c
            and all(row[i] == v for i, v in wanted.items())
            and (j is None or self.known(row, j))
        )

    def unseen(self, row, j):
        return not any(w for other, _, w in self.rows if other[j] == row[j])

    def unseen_share(self, j, c):
        """``u (m_c + 2) / (e_c + 2)``, see docs/trust.md."""
        rows = [(row[j], label, w) for row, label, w in self.rows if self.known(row, j)]
        n = {k: math.fsum(w for _, label, w in rows if label == k) for k in self.classes}
        times = {v: math.fsum(w for value, _, w in rows if value == v) for v, _, _ in rows}
        once = {
            k: math.fsum(w for v, label, w in rows if label == k and times[v] <= 1)
            for k in self.classes
        }
        total, lam = math.fsum(n.values()), self.m / self.sizes[j]
        part = {k: n[k] / total if total else 1 / len(n) for k in self.classes}
        level = math.fsum(part[k] * lam / (n[k] + self.m) for k in self.classes)
        expected = part[c] * math.fsum(once.values())
        return level * (once[c] + 2) / (expected + 2)

    def share(self, row, j, c):
        if self.unseen(row, j):
            return self.unseen_share(j, c)
        lam = self.m / self.sizes[j]
        return (self.weight({j: row[j]}, c) + lam) / (self.weight({}, c, j) + self.m)

    def spode(self, row, i, c):
        out = math.log(self.share(row, i, c))
        for j in range(self.d):
            if j != i and self.known(row, j) and self.unseen(row, j):
                out += math.log(self.share(row, j, c))
            elif j != i and self.known(row, j):
                had = self.weight({i: row[i], j: row[j]}, c)
                total = self.weight({i: row[i]}, c, j)
                out += math.log((had + self.m * self.share(row, j, c)) / (total + self.m))
        return out

    def log_likelihood(self, row, c, least=0.0):
        parents = [
            i
            for i in range(self.d)
            if self.known(row, i)
            and (n := sum(w for other, _, w in self.rows if other[i] == row[i])) > 0
            and n >= least
        ]
        if not parents:
            known = [j for j in range(self.d) if self.known(row, j)]
            return math.fsum(math.log(self.share(row, j, c)) for j in known)
        terms = [self.spode(row, i, c) for i in parents]
        top = max(terms)
        return top + math.log(math.fsum(math.exp(t - top) for t in terms) / len(terms))

    def log_prior(self, c):
        total = math.fsum(w for _, _, w in self.rows) + len(self.classes)
        return math.log((self.weight({}, c) + 1.0) / total)

    def joint(self, row, least=0.0):
        return [self.log_prior(c) + self.log_likelihood(row, c, least) for c in self.classes]

    def without(self, r):
        """The oracle of all other rows, with the same values and classes."""
        left = object.__new__(type(self))
        left.__dict__.update(self.__dict__)
        left.rows = self.rows[:r] + self.rows[r + 1 :]
        return left
