"""Estimators of tables: scikit-learn's API as thin shells over models.

``classifier``
    :class:`TableClassifier`: what any model of a table answers
``counted``
    :class:`CountedClassifier`: what is counted can be added, taken back and merged
"""
