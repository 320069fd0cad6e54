"""What every model shares: its prior, what is selected by its counts, calibration and scores.

Read in this order: ``protocol`` (the contract of every model), ``options`` (what the caller
fixes), ``selection`` and ``text_selection`` (what the counts choose), ``prior``, ``calibration``,
``scores``, ``evidence`` (in decibans) and ``measured_evidence``.
"""
