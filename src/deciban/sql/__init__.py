"""A model as SQL: one SELECT that gives what ``predict_proba`` gives, where the rows are.

Read in this order:

``posterior``
    from the formula of a model to probabilities, an answer and evidence
``stages``, ``writer``, ``layout``
    which parts of expressions are computed first; expressions as SQL; all of it as one query
``dialects``
    how each database writes names, texts and numbers, and what its arithmetic does
``export``, ``portable``
    the query of a model; the methods of estimators
"""
