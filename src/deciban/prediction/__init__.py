"""Many rows at a time: scored in batches, and written as a table.

``scored``
    rows to answers, probabilities and reasons
``writing``, ``kept``
    columns as CSV, JSON lines or Parquet; columns of the input as they stood there
"""
