"""The two loops of the solvers: conjugate gradients, and descent along directions."""

from dataclasses import dataclass

import numpy as np
import pytest

from deciban.logistic.solvers.conjugate_gradient import conjugate_gradient, dot
from deciban.logistic.solvers.descent import line_search, minimise


def system(n=8, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return root @ root.T + np.eye(n), rng.normal(size=(n, 2))


def never(_):
    return False


@pytest.mark.parametrize("start", [None, np.ones((8, 2))])
def test_conjugate_gradients_solve_a_system(start):
    A, b = system()
    x = conjugate_gradient(lambda v: A @ v, b, lambda r: r / np.diag(A)[:, None], never, 60, start)
    np.testing.assert_allclose(A @ x, b, atol=1e-8)


def test_progress_is_that_of_the_quadratic_model():
    A, b = system()
    seen = []

    def stop(at):
        model = 0.5 * dot(at.x, A @ at.x) - dot(b, at.x)
        np.testing.assert_allclose(at.r, b - A @ at.x, atol=1e-10)
        assert at.total == pytest.approx(-model)
        assert at.total == pytest.approx(sum(seen) + at.decrease)
        seen.append(at.decrease)
        return at.n_iter == 3

    conjugate_gradient(lambda v: A @ v, b, lambda r: r, stop, 50)
    assert len(seen) == 4
    assert seen[0] == 0.0


def test_a_constraint_preconditioner_solves_a_saddle_point():
    """[A B; B' 0] [q; v] = [b; c], with the constraint kept by every iterate."""
    A, b = system(6)
    b, B, c = b[:, :1], np.ones((6, 1)), np.array([[2.0]])
    matrix = np.block([[A, B], [B.T, np.zeros((1, 1))]])
    kept = np.linalg.inv(np.block([[np.diag(np.diag(A)), B], [B.T, np.zeros((1, 1))]]))
    start = kept @ np.vstack([np.zeros_like(b), c])
    right = np.vstack([b, c])
    x = conjugate_gradient(lambda v: matrix @ v, right, lambda r: kept @ r, never, 40, start)
    np.testing.assert_allclose(matrix @ x, right, atol=1e-8)


def test_no_curvature_ends_where_it_is():
    b = np.ones((3, 1))
    assert not conjugate_gradient(np.zeros_like, b, lambda r: r, never, 5).any()


@dataclass(frozen=True, eq=False)
class Place:
    """A point of a descent."""

    W: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True)
class Quartic:
    """sum (w - 1)**4: Newton's steps shrink the distance by a third each."""

    def at(self, W):
        return Place(W, float(np.sum((W - 1) ** 4)), 4 * (W - 1) ** 3)

    def steepness(self, point):
        return float(np.abs(point.gradient).max())

    def newton(self, point):
        return -point.gradient / (12 * (point.W - 1) ** 2)


def test_minimise_goes_to_the_tolerance():
    solution = minimise(Quartic(), np.zeros(2), 1e-6, 100, Quartic().newton)
    assert solution.converged
    assert Quartic().steepness(solution.point) <= 1e-6
    assert solution.n_iter > 5


def test_minimise_ends_where_a_step_gains_little():
    far = minimise(Quartic(), np.zeros(2), 0.0, 100, Quartic().newton, min_decrease=0.1)
    # The values are 2, 2 (2/3)^4, 2 (2/3)^8, ...: the third step is the first to gain < 0.1.
    assert far.converged
    assert far.n_iter == 3
    assert far.point.value == pytest.approx(2 * (2 / 3) ** 12)


def test_minimise_says_when_iterations_end():
    solution = minimise(Quartic(), np.zeros(2), 1e-9, 2, Quartic().newton)
    assert not solution.converged
    assert solution.n_iter == 2


def test_a_direction_that_rises_is_not_followed():
    point = Quartic().at(np.zeros(2))
    assert line_search(Quartic(), point, point.gradient, slack=-1e-14) is None
    assert line_search(Quartic(), point, -point.gradient).value < point.value
    assert minimise(Quartic(), np.zeros(2), 1e-9, 9, lambda p: p.gradient).n_iter == 0
