"""Engines: where counting and scoring happen.

Always the same three steps: cut the rows into chunks, work on each, put the
results together. Engines differ only in who does the first step.
"""
