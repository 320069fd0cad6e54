"""What is known about a parameter, before the data and after.

Each class is a distribution over the parameters of a likelihood (a coin, a category, a
Gaussian) and conjugate to it: prior and posterior are of one kind, and updating is addition.

The coin: 10 tosses, 7 heads. The *frequentist* estimate is ``7 / 10``. A prior ``Beta(a, b)``,
of density proportional to ``p**(a-1) * (1-p)**(b-1)``, becomes ``Beta(a + 7, b + 3)``:

>>> heads, tails = 7, 3
>>> posterior = Beta(2, 2).update(successes=heads, failures=tails)  # Beta(9, 5)

*Maximum likelihood*, *maximum a posteriori* ``(a-1) / (a+b-2)``, and *full Bayes*
``a / (a+b)``, which predicts the next toss by integrating over p:

>>> heads / (heads + tails), round(posterior.mode, 4), round(posterior.predictive(), 4)
(0.7, 0.6667, 0.6429)
>>> [round(end, 3) for end in posterior.interval(0.95)]  # p is in here with probability 95%
[0.386, 0.861]

Maximum likelihood is also the mode after a flat prior and the mean after none. A weight of 0
means impossible, for certain; what is undefined, as the mean of ``Beta(0, 0)``, is an error.

>>> Beta(1 + heads, 1 + tails).mode, Beta(0 + heads, 0 + tails).mean, Beta(0, 3).interval()
(0.7, 0.7, (0.0, 0.0))
"""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import Generic, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import InputError, MissingValueError, ParameterError, ShapeError

__all__ = ["Beta", "Dirichlet", "MuVar", "NormalInverseGamma", "StudentT"]

T = TypeVar("T")
Floats: TypeAlias = NDArray[np.float64]
Size: TypeAlias = int | tuple[int, ...] | None
Rng: TypeAlias = np.random.Generator | int | None


@dataclass(frozen=True, slots=True)
class Beta:
    """A distribution over the chance p of a coin: the Dirichlet of two categories.

    >>> coin = Beta(1, 1).update(successes=7, failures=3)
    >>> coin, coin.mode, round(coin.log_predictive(successes=1), 4), coin.sample(3, rng=0).shape
    (Beta(a=8.0, b=4.0), 0.7, -0.4055, (3,))
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        _set_numbers(self, a=0.0, b=0.0)

    def update(self, *, successes: float = 0.0, failures: float = 0.0) -> Self:
        """The posterior after these tosses; fractions of a toss are allowed."""
        return type(self)(*self._dirichlet().update((successes, failures)).alpha)

    @property
    def mean(self) -> float:
        """``a / (a+b)``."""
        return float(self._dirichlet().mean[0])

    @property
    def mode(self) -> float:
        """``(a-1) / (a+b-2)`` if a, b > 1, else as :attr:`Dirichlet.mode`; 1/2 if a = b = 1."""
        return float(self._dirichlet().mode[0])

    @property
    def variance(self) -> float:
        """``ab / ((a+b)**2 (a+b+1))``."""
        return float(self._dirichlet().variance[0])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed credible interval: (1 - level) / 2 is left on either side."""
        lo, hi = self._dirichlet().interval(level)[0].tolist()
        return lo, hi

    def predictive(self) -> float:
        """The probability that the next toss succeeds: the mean."""
        return self.mean

    def log_predictive(self, *, successes: float = 0.0, failures: float = 0.0) -> float:
        """Log-probability of a sequence: ``log B(a + successes, b + failures) / B(a, b)``."""
        return self._dirichlet().log_predictive((successes, failures))

    def sample(self, size: Size = None, rng: Rng = None) -> float | Floats:
        """Draws of p; rng is a numpy Generator or a seed."""
        return self._dirichlet().sample(size, rng)[..., 0][()]

    def _dirichlet(self) -> Dirichlet:
        return Dirichlet((self.a, self.b))


@dataclass(frozen=True, slots=True, init=False)
class Dirichlet:
    """A distribution over chances p, its density proportional to ``prod_i p_i**(alpha_i - 1)``.

    >>> die = Dirichlet([1, 1, 1]).update([4, 0, 1])
    >>> die, die.predictive(), die.sample(5, rng=0).shape
    (Dirichlet(alpha=(5.0, 1.0, 2.0)), array([0.625, 0.125, 0.25 ]), (5, 3))
    """

    alpha: tuple[float, ...]

    def __init__(self, alpha: ArrayLike) -> None:
        weights = tuple(_numbers("alpha", alpha, 0.0, ndim=1).tolist())
        if not weights:
            raise ShapeError("alpha must not be empty, got [].", hint="one weight per category")
        object.__setattr__(self, "alpha", weights)

    @classmethod
    def symmetric(cls, size: int, lam: float = 1.0) -> Self:
        """One weight for all categories: 0 is maximum likelihood, 1 is Laplace."""
        if not isinstance(size, int | np.integer) or size < 1:
            raise ParameterError(f"size must be an int >= 1, got {size!r}.", hint="2 is a coin")
        return cls((_number("lam", lam, 0.0),) * size)

    def update(self, counts: ArrayLike) -> Self:
        """The posterior after ``counts[i]`` more observations of category i."""
        return type(self)([a + n for a, n in zip(self.alpha, self._counts(counts), strict=True)])

    @property
    def mean(self) -> Floats:
        """``alpha_i / sum(alpha)``."""
        alpha, _, total = self._proper()
        return alpha / total

    @property
    def mode(self) -> Floats:
        """The p of highest density: ``alpha_i - 1``, not below 0, made to sum to 1.

        If no weight exceeds 1, the largest takes all. Several at exactly 1 share alike, as the
        density is flat between them; several that tie below 1 are equal peaks and an error.
        """
        alpha, _, _ = self._proper()
        share = np.maximum(alpha - 1.0, 0.0)
        if not share.any():
            share = np.where(alpha == alpha.max(), 1.0, 0.0)
            if alpha.max() < 1.0 < share.sum():
                what = f"the mode needs a weight >= 1 or one above the others, got {self.alpha}."
                raise ParameterError(what, hint="each of the largest has its peak; use the mean")
        return np.asarray(share / share.sum())

    @property
    def variance(self) -> Floats:
        """``m_i (1 - m_i) / (sum(alpha) + 1)`` for the means m_i."""
        alpha, others, total = self._proper()
        return alpha / total * (others / total) / (total + 1.0)

    def interval(self, level: float = 0.95) -> Floats:
        """Equal-tailed credible intervals: a row per category, each taken alone."""
        from scipy.special import betainccinv, betaincinv

        tail, (a, b, _) = _tail_mass(level), self._proper()
        sure = (a == 0.0) | (b == 0.0)
        a, b = np.where(sure, 1.0, a), np.where(sure, 1.0, b)
        ends = np.stack([betaincinv(a, b, tail), betainccinv(a, b, tail)], axis=1)
        return np.where(sure[:, None], self.mean[:, None], ends)

    def predictive(self) -> Floats:
        """The probability of each category at the next observation: the mean."""
        return self.mean

    def log_predictive(self, counts: ArrayLike) -> float:
        """Log-probability of one sequence with these counts, p integrated out."""
        (_, _, total), seen = self._proper(), self._counts(counts)
        return sum(map(_log_rising, self.alpha, seen)) - _log_rising(total, sum(seen))

    def sample(self, size: Size = None, rng: Rng = None) -> Floats:
        """Draws of p along the last axis; rng is a numpy Generator or a seed."""
        draw, shape = _generator(rng, size)
        return draw.dirichlet(self._proper()[0], shape)

    def _counts(self, counts: ArrayLike) -> list[float]:
        seen: list[float] = _numbers("counts", counts, 0.0, ndim=1).tolist()
        if len(seen) != len(self.alpha):
            what = f"counts must have {len(self.alpha)} values, got {len(seen)}."
            raise ShapeError(what, hint="one count per category, 0 for what was not seen")
        return seen

    def _proper(self) -> tuple[Floats, Floats, float]:
        """The weights, the sum of the others for each (total - alpha would cancel), the total."""
        total = _number("the sum of alpha", sum(self.alpha))
        if total == 0.0:
            what = f"without data some weight must be > 0, got {self.alpha}."
            raise ParameterError(what, hint="update it first, or start with weights of 1")
        below, above = np.cumsum((0.0, *self.alpha)), np.cumsum((0.0, *self.alpha[::-1]))
        return np.asarray(self.alpha), below[:-1] + above[-2::-1], total


class MuVar(NamedTuple, Generic[T]):
    """One quantity for each parameter of a Gaussian: its mean mu, its variance var.

    >>> MuVar(mu=0.0, var=1.0).var
    1.0
    """

    mu: T
    var: T


@dataclass(frozen=True, slots=True)
class NormalInverseGamma:
    """A distribution over the mean mu and the variance var of a Gaussian.

    ``var ~ InverseGamma(a, b)`` and ``mu | var ~ Normal(loc, var / kappa)``: a density
    proportional to ``var**-(a + 3/2) * exp(-(b + kappa * (mu - loc)**2 / 2) / var)``.
    Improper priors have kappa = b = 0 and a = -3/2 (flat: the mode is maximum likelihood),
    a = -1/2 (the interval of mu is the classical t interval) or a = 0 (Jeffreys).

    >>> known = NormalInverseGamma(loc=0, kappa=1, a=2, b=3).update([1.0, 3.0, 2.0])
    >>> known, known.mode
    (NormalInverseGamma(loc=1.5, kappa=4.0, a=3.5, b=5.5), MuVar(mu=1.5, var=1.1))
    >>> [round(end, 3) for end in known.interval(0.9).var], known.predictive().df
    ([0.782, 5.075], 7.0)
    """

    loc: float
    kappa: float
    a: float
    b: float

    def __post_init__(self) -> None:
        _set_numbers(self, loc=-math.inf, kappa=0.0, a=-1.5, b=0.0)

    def update(self, data: ArrayLike) -> Self:
        """The posterior after these observations."""
        x = _numbers("data", data, ndim=1)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            mean = float(x.sum() / max(x.size, 1))
            return self.update_moments(x.size, mean, float(np.square(x - mean).sum()))

    def update_moments(self, n: float, mean: float, m2: float) -> Self:
        """The posterior after n observations with this mean and ``m2 = sum((x - mean)**2)``.

        kappa grows by n, a by n/2, b by ``m2 / 2 + n kappa (mean - loc)**2 / (2 (n + kappa))``,
        and loc is averaged with mean by the weights kappa and n.
        """
        if (n := _number("n", n, 0.0)) == 0.0:
            return self
        mean, m2 = _number("mean", mean), _number("m2", m2, 0.0)
        kappa, gap = self.kappa + n, mean - self.loc
        old, new = self.kappa / kappa, n / kappa
        b = self.b + m2 / 2.0 + old * n / 2.0 * gap * gap
        return type(self)(old * self.loc + new * mean, kappa, self.a + n / 2.0, b)

    @property
    def mean(self) -> MuVar[float]:
        """``loc`` if a > 1/2, and ``b / (a-1)``, infinite if a <= 1."""
        self._require(a=0.5, b=-1.0)
        return MuVar(self.loc, self.b / (self.a - 1.0) if self.a > 1.0 else math.inf)

    @property
    def mode(self) -> MuVar[float]:
        """The pair of highest density: ``loc`` and ``b / (a + 3/2)``."""
        self._require(a=-1.5, b=-1.0)
        return MuVar(self.loc, self.b / (self.a + 1.5))

    def interval(self, level: float = 0.95) -> MuVar[tuple[float, float]]:
        """Equal-tailed credible intervals of mu (Student t) and of var (inverse gamma)."""
        from scipy.special import gammainccinv, gammaincinv

        mu, tail = self._student(0.0).interval(level), _tail_mass(level)
        lo, hi = float(gammainccinv(self.a, tail)), float(gammaincinv(self.a, tail))
        return MuVar(mu, (self.b / max(lo, math.ulp(0.0)), self.b / max(hi, math.ulp(0.0))))

    def predictive(self) -> StudentT:
        """The distribution of the next observation, mu and var integrated out."""
        return self._student(1.0)

    def sample(self, size: Size = None, rng: Rng = None) -> MuVar[float | Floats]:
        """Draws of mu and var together; rng is a numpy Generator or a seed."""
        self._require()
        draw, shape = _generator(rng, size)
        with np.errstate(divide="ignore", over="ignore"):  # a small a has draws beyond any float
            var = self.b / draw.standard_gamma(self.a, shape)
            return MuVar(self.loc + np.sqrt(var / self.kappa) * draw.standard_normal(shape), var)

    def _student(self, noise: float) -> StudentT:
        self._require()
        scale = math.sqrt(self.b / self.a * (noise + 1.0 / self.kappa))
        return StudentT(2.0 * self.a, self.loc, scale)

    def _require(self, a: float = 0.0, b: float = 0.0) -> None:
        if not (self.kappa > 0.0 and self.a > a and self.b > b):
            what = f"this needs kappa > 0, a > {a:g}{' and b > 0' if b == 0.0 else ''}, got {self}."
            raise ParameterError(what, hint="update it with more data, or take a proper prior")


@dataclass(frozen=True, slots=True)
class StudentT:
    """The t distribution: what a Gaussian becomes when its parameters are uncertain.

    >>> StudentT(df=3, loc=0, scale=1).logpdf([0.0, 1.0]).round(4)
    array([-1.0009, -1.5763])
    """

    df: float
    loc: float
    scale: float

    def __post_init__(self) -> None:
        _set_numbers(self, df=0.0, loc=-math.inf, scale=0.0)
        if not (self.df and self.scale):
            raise ParameterError(f"df and scale must be > 0, got {self}.", hint="0 has no density")

    @property
    def mean(self) -> float:
        """``loc``, if df > 1."""
        if self.df <= 1.0:
            raise ParameterError(f"a mean needs df > 1, got {self}.", hint="loc is the median")
        return self.loc

    @property
    def variance(self) -> float:
        """``scale**2 df / (df-2)``, infinite if df <= 2."""
        return self.scale * self.scale * self.df / (self.df - 2.0) if self.df > 2.0 else math.inf

    def logpdf(self, x: ArrayLike) -> float | Floats:
        """The log-density at x, a number or an array of them."""
        with np.errstate(divide="ignore", over="ignore"):
            z = np.abs(_numbers("x", x) - self.loc) / self.scale  # its square may overflow
            tail = np.logaddexp(0.0, 2.0 * np.log(z) - math.log(self.df))
        peak = _log_rising(self.df / 2.0, 0.5) - math.log(self.df * math.pi) / 2.0
        return peak - math.log(self.scale) - (self.df + 1.0) / 2.0 * tail

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The central interval that holds this much of the probability."""
        from scipy.special import stdtrit

        half = -float(stdtrit(self.df, _tail_mass(level))) * self.scale
        return self.loc - half, self.loc + half

    def sample(self, size: Size = None, rng: Rng = None) -> float | Floats:
        """Draws; rng is a numpy Generator or a seed."""
        draw, shape = _generator(rng, size)
        return self.loc + self.scale * draw.standard_t(self.df, shape)


def _log_rising(x: float, n: float) -> float:
    """``log(gamma(x + n) / gamma(x))``, by Stirling where the two would cancel."""
    if n == 0.0 or x == 0.0:
        return 0.0 if n == 0.0 else -math.inf
    y = x + n
    if x < 100.0:
        return math.lgamma(y) - math.lgamma(x)
    tails = (1.0 / y - 1.0 / x) / 12.0 - (1.0 / y / y / y - 1.0 / x / x / x) / 360.0
    return n * math.log(y) + (x - 0.5) * math.log1p(n / x) - n + tails


def _set_numbers(target: Beta | NormalInverseGamma | StudentT, **least: float) -> None:
    for name, low in least.items():
        object.__setattr__(target, name, _number(name, getattr(target, name), low))


def _number(name: str, value: float, least: float = -math.inf) -> float:
    return float(_numbers(name, value, least, ndim=0))


def _numbers(name: str, values: ArrayLike, least: float = -math.inf, ndim: int = -1) -> Floats:
    """The values as finite floats >= least; ndim 0 is one number, 1 a flat list, -1 any shape."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray("rows of unequal length")
    if array.dtype.kind not in "biuf" or ndim not in (-1, array.ndim):
        right = ("one number", "a flat list of numbers", "numbers")[ndim]
        error, hint = InputError, "check its type and its shape"
    elif (bad := ~np.isfinite(array)).any():
        error, right, hint = MissingValueError, "finite", "drop or fill missing values"
        values = array[bad].item(0)
    elif (bad := array < least).any():
        error, right, hint = ParameterError, f">= {least:g}", f"{least:g} is no prior, no data"
        values = array[bad].item(0)
    else:
        return array.astype(np.float64)
    raise error(f"{name} must be {right}, got {reprlib.repr(values)}.", hint=hint)


def _tail_mass(level: float) -> float:
    if not 0.0 < (level := _number("level", level)) < 1.0:
        raise ParameterError(f"level must be between 0 and 1, got {level}.", hint="try 0.95")
    return (1.0 - level) / 2.0


def _generator(rng: Rng, size: Size) -> tuple[np.random.Generator, tuple[int, ...]]:
    try:
        return np.random.default_rng(rng), np.broadcast_shapes(() if size is None else size)
    except (TypeError, ValueError) as error:
        what = f"size and rng must be whole numbers >= 0, got size={size!r} and rng={rng!r}."
        raise ParameterError(what, hint="rng may be a Generator, size a tuple") from error
