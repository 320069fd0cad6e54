"""The HTTP service: answers, reasons and lessons over a port.

Read in the order of a request:

``server``, ``protocol``
    a socket and its workers; limits of connections
``app``, ``gate``
    the paths; who may ask, and what goes wrong
``desk``, ``tables``, ``endpoints``, ``messages``, ``bodies``, ``problems``
    a request in and an answer out; what they look like
``service``, ``answers``, ``short_way``, ``batch``
    the model that answers now; what it is asked; one row; whole tables
``columns``, ``figures``, ``drift``, ``watch``
    what the page shows of a model: its columns, its figures, and what it was asked lately
``training``
    a model made from a table that was sent
``learner``, ``lessons``, ``store``
    lessons of many callers in one transaction; what they count as; the SQLite file
``metrics``, ``openapi``, ``pages``, ``static/``
    counters; the description of the API; the page
``settings``
    what is served, to whom, within which limits
"""
