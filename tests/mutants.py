"""A mutation run: one small mistake at a time is put into a copy of the package.

``python tests/mutants.py`` prints which mistakes the tests catch and which survive;
``python tests/mutants.py families stacking`` tries those whose file has one of these in its name.
A mistake whose text is nowhere, or in several places, is stale: write it anew. First the tests
are run without a mistake, since one that fails then would catch them all.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import deciban

TESTS = Path(__file__).parent
PACKAGE = Path(deciban.__file__).parent
#: A run of tests that takes this many times as long as all of them without a mistake never ends.
MAX_SLOWDOWN = 5

#: The tests of each room and of files that have their own, which are run first; then come those
#: of every room.
ALL = "golden selectors selectors_models"
ROOMS = {
    "stats": "thresholds cuts exact grid sparse algebra counts bad_counts storage_counts",
    "stats/histogram.py": "cuts",
    "stats/exact.py": "exact",
    "stats/cells.py": "grid",
    "stats/sparse.py": "sparse",
    "stats/counts.py": "algebra",
    "families": "families choices thresholds categories bad_counts sklearn_equality "
    "mixed_leave_one_out mixed_text new_values",
    "families/rate.py": "poisson bounded_evidence",
    "families/circle.py": "von_mises bounded_evidence",
    "families/bounded.py": "bounded_evidence",
    "families/bell.py": "bounded_evidence families mixed_leave_one_out units_left_out",
    "families/gaussian.py": "bounded_evidence families",
    "families/von_mises.py": "bounded_evidence von_mises",
    "families/alone.py": "alone new_values choices thresholds selectors",
    "families/bernoulli.py": "sklearn_equality",
    "families/complement.py": "sklearn_equality",
    "families/words.py": "mixed_text",
    "families/removal.py": "mixed_text",
    "models": "thresholds choices calibration mixed_leave_one_out scores families mixed_text",
    "models/calibration.py": "calibration class_offsets thresholds",
    "models/class_offsets.py": "class_offsets",
    "models/text_selection.py": "selectors mixed_text",
    "aode": "thresholds aode aode_learning new_values",
    "logistic": "logistic_penalty logistic_regression matrix_groups",
    "families/bag_unit_removal.py": "matrix_groups",
    "naive_bayes/near_copies.py": "several_labels near_copies",
    "naive_bayes/dropins/left_out.py": "matrix_groups dropin_scores",
    "ensemble/refitting.py": "sets",
    "ensemble": "radial selectors_ensemble bayes_parts bayes bayes_text",
    "evaluation": "evaluation thresholds comparison",
    "report": "thresholds report",
    "naive_bayes": "mixed_learning mixed_leave_one_out em choices mixed_columns",
    "conjugate.py": "conjugate docs",
    "decision.py": "decision",
    "balance.py": "balance",
}


class Mutant(NamedTuple):
    """A mistake: in which file, the text that is right, and what is put in its place."""

    file: str
    old: str
    new: str

    @property
    def tests(self):
        """The files of the tests that should notice."""
        room = self.file.split("/")[0]
        own = " ".join(ROOMS.get(name, "") for name in dict.fromkeys((self.file, room)))
        names = dict.fromkeys([*own.split(), *ALL.split()])
        return [TESTS / f"test_{name}.py" for name in names]


MUTANTS = [
    # stats: what is counted, and what rounding is
    Mutant("stats/histogram.py", "rules[j : j + 1])[0]", "rules[-1:])[0]"),
    Mutant("stats/histogram.py", "np.log2(total - 1) + labellings", "np.log2(total) + labellings"),
    Mutant("stats/histogram.py", "(k * e - k1 * e1 - k2 * e2)", "(k * e + k1 * e1 - k2 * e2)"),
    Mutant("stats/histogram.py", "stop - start < 2 or total < 2", "stop - start < 3 or total < 2"),
    Mutant("stats/exact.py", "shift = divmod(power - 53, 32)", "shift = divmod(power - 52, 32)"),
    Mutant("stats/exact.py", "-1 if factor < 0 else 1", "1"),
    Mutant("stats/exact.py", "> top[..., None] - MAX_DECAYED_DIGITS", "> top[..., None] - 2"),
    Mutant("stats/cells.py", "2 * keys + 1, drop - 1", "2 * keys, drop - 1"),
    Mutant("stats/cells.py", "keys >> (drop - d) for", "keys >> drop for"),
    Mutant("stats/cells.py", "MAX_GRID_KEYS = 4096", "MAX_GRID_KEYS = 2048"),
    Mutant("stats/sparse.py", "* (len(self.starts) - 1) - len(self.values)",
           "* len(self.starts) - len(self.values)"),
    Mutant("stats/counts.py", "return Counts(a.classes, weight, tables).prune()",
           "return Counts(a.classes, weight, tables)"),
    Mutant("stats/counts.py", "self.weight * scale, tables)", "self.weight, tables)"),
    # families: one likelihood each
    Mutant("families/bell.py", "b / (kappa / 2 + 1.5)", "b / (kappa / 2 + 1.0)"),
    Mutant("families/bell.py", "2 * b * (kappa + 1) / some**2", "2 * b / some"),
    Mutant("families/bell.py", "n * (lam / some) * shift**2", "lam * shift**2"),
    Mutant("families/bell.py", "- 1 / (8 * a) + 1 / (192 * a**3)", "- 1 / (8 * a)"),
    Mutant("families/bell.py", "CANCELLED_SHARE = 1e-3", "CANCELLED_SHARE = 0.0"),
    Mutant("families/bell.py", "squares - total * shift, 0.0", "squares, 0.0"),
    Mutant("families/bell.py", "each, prior, less, rows",
           "each, prior, each[:, own, at].copy(), rows"),
    Mutant("families/categorical.py", "return seen.astype(np.float64)", "return seen + 1.0"),
    Mutant("families/complement.py", "whole - amount + extra", "whole + extra"),
    Mutant("families/complement.py", "share.sum() if normalise else -1.0", "-1.0"),
    Mutant("families/bernoulli.py", "rows[c] - amount + extra", "rows[c] - amount"),
    Mutant("stats/categories.py", "(1 + rounding.ROUNDING) * rows", "2.0 * rows"),
    Mutant("families/words.py", "(1 - t) * scores - t * _smooth_shares",
           "scores - t * _smooth_shares"),
    Mutant("families/words.py", "np.maximum(size, 1.0) ** -length, most)",
           "np.maximum(size, 1.0) ** -length, 2.0)"),
    Mutant("families/words.py", "rows[:, None] - documents + pseudo_count",
           "rows[:, None] - documents"),
    Mutant("families/removal.py", "float(rows[c]) - amount, amount)", "float(rows[c]), amount)"),
    Mutant("families/histogram.py", "np.where(exact & (middle > low), middle, high)", "high"),
    Mutant("families/alone.py", "np.array(losses) < prior", "np.array(losses) < 0.98 * prior"),
    Mutant("families/alone.py", "np.log(20.0), 29", "np.log(20.0), 15"),
    Mutant("families/alone.py", "total / np.where(weight > 0, weight, 1.0)",
           "total / np.where(weight > 0, weight, 1.0) * np.where(weight > 20, 0.98, 1)"),
    Mutant("families/alone.py", "joint = log_likelihood + np.log(class_weight + 1.0)",
           "joint = log_likelihood.copy()"),
    Mutant("families/alone.py", "np.maximum(class_weight[own] - one_row(times), 0.0)",
           "class_weight[own]"),
    Mutant("families/alone.py", "gammaln(size * lam) - gammaln(rows[:, None] + size * lam)",
           "gammaln(lam) - gammaln(rows[:, None] + lam)"),
    Mutant("families/gaussian.py", "DEFAULT_PRIOR_ROWS = 1.0", "DEFAULT_PRIOR_ROWS = 2.0"),
    Mutant("families/histogram.py", "BINS_TRIED = (5, 10, 20)", "BINS_TRIED = (5, 10, 15)"),
    Mutant("families/rate.py", "of.total + lam * whole, of.n + lam",
           "of.total + lam, of.n + lam"),
    Mutant("families/rate.py", "- x * np.log1p(b))", "- x * np.log(b))"),
    Mutant("families/rate.py", "(far - 0.5) * np.log1p(x / far)", "far * np.log1p(x / far)"),
    Mutant("families/rate.py", "weight * np.where(np.isnan(x), 0.0, x)",
           "np.where(np.isnan(x), 0.0, x)"),
    Mutant("families/circle.py", "of.add(whole.mean(), self.lam)",
           "of.add(whole, self.lam)"),
    Mutant("families/circle.py", "NEWTON_STEPS = 4", "NEWTON_STEPS = 0"),
    Mutant("families/circle.py", "classes.whole().add(row, -weight)",
           "classes.whole().add(row, -0.0 * weight)"),
    Mutant("families/circle.py", "np.log(i0e(concentration)) - math.log(self.period)",
           "np.log(i0e(concentration)) - math.log(TAU)"),
    # models: prior, calibration, selection, the reading of texts
    Mutant("models/prior.py", "rounding.difference(amount[rows, y], weight)", "amount[rows, y]"),
    Mutant("models/class_offsets.py", "if before - least > MIN_OFFSET_GAIN",
           "if before - least > 100 * MIN_OFFSET_GAIN"),
    Mutant("models/class_offsets.py", "seen - expected, 0.0) - precision * offset",
           "seen - expected, 0.0)"),
    Mutant("models/class_offsets.py", "offset * moved.rows))", "offset))"),
    Mutant("families/bounded.py", "np.log1p(MAX_FACTOR_PER_ROW * np.maximum(n, 0.0))",
           "np.log1p(np.maximum(n, 0.0))"),
    Mutant("families/bell.py", "most = how.max_evidence(prior[0], rows)",
           "most = how.max_evidence(prior[0] + 1, rows)"),
    Mutant("families/gaussian.py", "selected]), bounded=True)", "selected]))"),
    Mutant("families/von_mises.py", "lam, bounded=True, period", "lam, period"),
    Mutant("naive_bayes/near_copies.py", "< SEVERAL_LABELS_SHARE:", "< 2 * SEVERAL_LABELS_SHARE:"),
    Mutant("naive_bayes/near_copies.py", "or sample.stands_for != 1.0", ""),
    Mutant("models/calibration.py", "np.arange(-92, 29)", "np.arange(-92, 19)"),
    Mutant("models/calibration.py", "(self.loss + penalty)[_NEAREST_TO_ONE]",
           "self.loss[_NEAREST_TO_ONE]"),
    Mutant("models/calibration.py", "self.rows + other.rows", "self.rows"),
    Mutant("families/alone.py", "least(column, lambda pair: pair[1].loss)",
           "least(column[1:] or column, lambda pair: pair[1].loss)"),
    Mutant("models/text_selection.py", "TYPICAL_WORDS**length, self",
           "TYPICAL_WORDS ** (length / 2), self"),
    Mutant("models/text_selection.py", "contrasts = contrasts[:1]", "contrasts = contrasts[1:]"),
    Mutant("families/alone.py", "abs(loss(one)) < loss(best)", "abs(loss(one)) > loss(best)"),
    Mutant("families/alone.py", "TIE_SHARE = 1e-9", "TIE_SHARE = 3e-2"),
    Mutant("models/text_selection.py", "for p in LENGTH_POWERS_TRIED",
           "for p in LENGTH_POWERS_TRIED[:2]"),
    Mutant("models/text_selection.py", "SMOOTHINGS_TRIED = (0.03, 0.1, 0.3, 0.6, 1.0, 2.0)",
           "SMOOTHINGS_TRIED = (0.1, 0.3, 0.6, 1.0, 2.0)"),
    # AODE
    Mutant("aode/calibration.py",
           "self.loss[:, AT_ONE] if penalty is None else (self.loss + penalty).min(axis=1)",
           "self.loss[:, AT_ONE]"),
    Mutant("aode/calibration.py", "STRENGTHS_IN_ROWS = (0.3, 1.0, 3.0, 10.0, 30.0)",
           "STRENGTHS_IN_ROWS = (1.0, 3.0, 10.0, 30.0)"),
    Mutant("aode/cut_points.py", "np.rint(np.sqrt(n_rows))", "np.rint(np.cbrt(n_rows))"),
    Mutant("aode/one_dependence.py", "(without + params.lam) / (total +",
           "(with_row + params.lam) / (total +"),
    # logistic regression
    Mutant("logistic/penalty.py", "np.argmin(loss + surprise)", "np.argmin(loss)"),
    Mutant("logistic/penalty.py", "/ (1 - h * curvature)", ""),
    Mutant("logistic/penalty.py", "p * (1 - p) * against_others", "p * (1 - p)"),
    Mutant("logistic/penalty.py", "losses * (weight.sum() / judged)", "losses"),
    # rows that belong together
    Mutant("families/bag_unit_removal.py", "total = _others(totals) + self.extra.sum()",
           "total = _others(totals)"),
    Mutant("naive_bayes/dropins/left_out.py", 'np.unique(unit[judged]), unit, "right")',
           'np.unique(unit[judged]), unit, "left")'),
    # the ensemble
    Mutant("ensemble/stacking.py", "USUAL_WEIGHTS_PENALTY = 15.0",
           "USUAL_WEIGHTS_PENALTY = 5.0"),
    Mutant("ensemble/refitting.py", "table.part.take(inside).drop", "table.part.drop"),
    Mutant("ensemble/training.py", "table.held_weight, usual)", "table.held_weight)"),
    Mutant("ensemble/base_learners.py", "n_rows / (n_rows + half)", "half / (n_rows + half)"),
    Mutant("ensemble/evidence_weights.py", "(CENTRE / self.usual_weight) ** 2", "1.0"),
    Mutant("ensemble/evidence_weights.py", "CONSTANT_PENALTY = 1.0", "CONSTANT_PENALTY = 0.01"),
    Mutant("ensemble/stacking.py", "= 1 / len(added), _rows_last", "= 1.0, _rows_last"),
    Mutant("ensemble/stacking.py", "of.gradient + w - equal", "of.gradient + 3 * (w - equal)"),
    Mutant("ensemble/bounded_newton.py", "(x > 0) | (at.gradient < 0)", "x > 0"),
    Mutant("ensemble/evidence_weights.py", "CENTRE, PENALTY = 0.5, 3.0",
           "CENTRE, PENALTY = 0.5, 1.0"),
    Mutant("ensemble/evidence_weights.py", "CENTRE, PENALTY = 0.5, 3.0",
           "CENTRE, PENALTY = 0.6, 3.0"),
    Mutant("ensemble/evidence_weights.py", "MAX_EVIDENCE_NATS = 15.0",
           "MAX_EVIDENCE_NATS = 5.0"),
    Mutant("ensemble/linear.py", "if loss < best.loss - min_gain:",
           "if loss < 1.02 * best.loss - min_gain:"),
    Mutant("ensemble/linear.py", "1.0, 0.3, 0.1, 0.03)", "1.0)"),
    Mutant("ensemble/linear.py", "CLEAR_LOSS_NATS = 2, 2.0", "CLEAR_LOSS_NATS = 1, 2.0"),
    Mutant("ensemble/linear.py", "if loss < best.loss - min_gain:",
           "if loss < 0.98 * best.loss - min_gain:"),
    Mutant("ensemble/phrase_counts.py", "COUNT_SMOOTHING = 1.0", "COUNT_SMOOTHING = 0.5"),
    Mutant("ensemble/text_learner.py", "MIN_RATIO_NATS = 0.01", "MIN_RATIO_NATS = 0.1"),
    Mutant("ensemble/features.py", "np.where(codes >= sizes, UNKNOWN_CELL, values)", "values"),
    Mutant("ensemble/features.py", "np.where(self.has_missing, self.n_cells, UNKNOWN_CELL)",
           "self.n_cells"),
    Mutant("ensemble/trees.py", "rules.leaf_penalty, rules.set_leaf_penalty",
           "rules.leaf_penalty / 2, rules.set_leaf_penalty"),
    Mutant("ensemble/training_table.py", "N_FOLDS = 5", "N_FOLDS = 4"),
    Mutant("ensemble/radial.py", "best = min(range(len(each))", "best = max(range(len(each))"),
    Mutant("ensemble/radial.py", "best = min(range(len(tried))", "best = max(range(len(tried))"),
    Mutant("ensemble/radial.py", "centres * reach, (penalty,)", "some_centres * reach, (penalty,)"),
    Mutant("ensemble/radial.py", "(inside[inside >= 0], held", "(held[held >= 0], held"),
    Mutant("ensemble/radial.py", "PENALTIES = (0.01, 0.1, 1.0, 10.0)", "PENALTIES = (10.0,)"),
    Mutant("ensemble/radial.py", "VARIANCE_RELEVANCE = 0.5", "VARIANCE_RELEVANCE = 0.0"),
    Mutant("ensemble/radial.py", "MIN_RELEVANCE = 0.02", "MIN_RELEVANCE = 0.2"),
    Mutant("ensemble/radial.py", "one * (squares", "weight * (squares"),
    Mutant("ensemble/radial.py", ">= (MIN_ROWS_PER_CENTRE if", ">= (1 if"),
    Mutant("ensemble/base_learners.py", "MAX_RADIAL_ROWS, MIN_NUMBERS_PER_CATEGORY = 50",
           "MAX_RADIAL_ROWS, MIN_NUMBERS_PER_CATEGORY = 60"),
    # evaluation and report
    Mutant("evaluation/decisions.py", "amount[:, : rows.n_known] += 1.0",
           "amount[:, : rows.n_known] += 2.0"),
    Mutant("evaluation/decisions.py", "-= np.minimum(rows.weight, 1.0)", "-= 0.0"),
    Mutant("evaluation/bootstrap.py", "max(0.0, 2 * figures[key] - end) for end in (high, low)",
           "end for end in (low, high)"),
    Mutant("evaluation/bootstrap.py", "[(1 - confidence) / 2, (1 + confidence) / 2]",
           "[1 - confidence, confidence]"),
    Mutant("evaluation/bootstrap.py", "weights = times * weight", "weights = times"),
    Mutant("evaluation/metrics.py", "share(2 * right, answered + truth)",
           "share(right, answered + truth)"),
    Mutant("evaluation/metrics.py", "total / 2 if posterior.shape[1] == 2 else total", "total"),
    Mutant("evaluation/reliability.py",
           "np.clip((probability * n_bins).astype(np.intp), 0, n_bins - 1)",
           "np.minimum((probability * n_bins).astype(np.intp), n_bins)"),
    Mutant("evaluation/metrics.py", "np.abs(bins[..., 1] - bins[..., 2])",
           "(bins[..., 1] - bins[..., 2])"),
    Mutant("evaluation/areas.py", "so_far - positive - (w - p) / 2", "so_far - positive"),
    Mutant("evaluation/thresholds.py", "precision = share(hits, hits + alarms, 1.0)",
           "precision = share(hits, hits + alarms)"),
    Mutant("evaluation/comparison.py", "1.0 if more else -1.0", "1.0"),
    Mutant("report/drift.py", "MOVED_INDEX, FAR_INDEX = 0.1, 0.25",
           "MOVED_INDEX, FAR_INDEX = 0.1, 0.3"),
    Mutant("report/drift.py", "MOVED_INDEX, FAR_INDEX = 0.1, 0.25",
           "MOVED_INDEX, FAR_INDEX = 0.12, 0.25"),
    Mutant("report/drift.py", "CHANCE_LEVEL = 0.001", "CHANCE_LEVEL = 0.01"),
    # the textbook
    Mutant("conjugate.py", "self.b / (self.a + 1.5)", "self.b / (self.a + 1.0)"),
    Mutant("conjugate.py", "old * n / 2.0 * gap * gap", "n / 2.0 * gap * gap"),
    Mutant("conjugate.py", "alpha / total * (others / total) / (total + 1.0)",
           "alpha / total * (others / total) / total"),
    Mutant("conjugate.py", "- (1.0 / y / y / y - 1.0 / x / x / x) / 360.0", ""),
    Mutant("decision.py", "(matrix.max(axis=0) - matrix).T", "(matrix.max(axis=0) - matrix)"),
    Mutant("decision.py", "false_alarm / (false_alarm + miss)", "miss / (false_alarm + miss)"),
    Mutant("decision.py", "abstention_cost(abstain) * (1 + TIE_TOLERANCE)",
           "abstention_cost(abstain)"),
    Mutant("balance.py", "count.sum() / (len(count) * count)", "count.max() / count"),
    Mutant("balance.py", "share * counts.weight.sum() / counts.weight", "share / counts.weight"),
]  # fmt: skip


def place(mutant, package):
    """The file that a mistake goes into; None where its text is not there exactly once."""
    stated = package / mutant.file
    files = [stated] if stated.exists() else []
    for some in (files, sorted(package.rglob("*.py"))):
        found = [path for path in some if path.read_text(encoding="utf-8").count(mutant.old) == 1]
        if len(found) == 1:
            return found[0]
    return None


def run(tests, package, seconds=None):
    """What pytest says of the first test that fails, with the package of this folder, or None."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:xdist",
               "--hypothesis-profile", "mutants", "-o", f"cache_dir={package.parent}/cache",
               *map(str, tests)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    try:
        ended = subprocess.run(
            command, cwd=TESTS.parent, env=environment, capture_output=True, timeout=seconds,
            check=False, encoding="utf-8",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it never ends"
    return (ended.stdout + ended.stderr)[-2000:] if ended.returncode else None


def outcome(mutant, package, seconds):
    """What becomes of a mistake: caught, survived, or stale."""
    path = place(mutant, package)
    if path is None:
        return "stale"
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        return "caught" if run(mutant.tests, package, seconds) else "SURVIVED"
    finally:
        path.write_text(right, encoding="utf-8")


def slowest_run(tests, package):
    """After how many seconds a run of tests never ends; without a mistake, none of them fails."""
    began = time.perf_counter()
    failure = run(sorted(tests), package)
    if failure is not None:
        sys.exit(f"the tests fail as it is, mend that first:\n{failure}")
    return MAX_SLOWDOWN * (time.perf_counter() - began)


def main(wanted, check, unchecked):
    chosen = [m for m in MUTANTS if not wanted or any(part in m.file for part in wanted)]
    count = {"caught": 0, "SURVIVED": 0, "stale": 0}
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "deciban")
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        if check:
            stale = [m for m in chosen if place(m, package) is None]
            missing = sorted({t for m in chosen for t in m.tests if not t.exists()})
            for line in (*(f"{m.file}: {m.old}" for m in stale), *missing):
                print(f"stale: {line}")
            return len(stale) + len(missing)
        tests = {path for mutant in chosen for path in mutant.tests}
        seconds = None if unchecked else slowest_run(tests, package)
        for mutant in chosen:
            began = time.perf_counter()
            what = outcome(mutant, package, seconds)
            count[what] += 1
            took = time.perf_counter() - began
            print(
                f"{what:8} {took:4.0f} s  {mutant.file}: {mutant.old!r} -> {mutant.new!r}",
                flush=True,
            )
    tried = count["caught"] + count["SURVIVED"]
    share = f": {count['caught'] / tried:.1%} caught" if tried else ""
    print(", ".join(f"{n} {what.lower()}" for what, n in count.items()) + share)
    return count["SURVIVED"] + count["stale"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="parts of the names of files")
    parser.add_argument("--check", action="store_true", help="only say which mistakes are stale")
    parser.add_argument("--unchecked", action="store_true", help="the tests are known to pass")
    options = parser.parse_args()
    sys.exit(1 if main(options.files, options.check, options.unchecked) else 0)
