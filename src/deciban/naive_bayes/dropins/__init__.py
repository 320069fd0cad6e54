"""scikit-learn's five naive Bayes classifiers, thin shells over one exact table of counts.

Read in this order: ``encoders`` (rows to what a family counts), ``model``, ``left_out``,
``answers``, ``learning``, ``base`` and ``smoothed`` (what the five share), ``gaussian``,
``categorical`` and ``bags`` (the five), ``stored``.
"""
