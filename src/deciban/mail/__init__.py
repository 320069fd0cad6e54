"""Mail: messages to tokens, a store that keeps learning, and verdicts.

Read in the order of a run:

``mailboxes``
    where messages lie: Maildir, mbox, folders, files
``envelope``
    a message as bytes: the header that is added, the digest it is known by
``mime``, ``charsets``, ``html``
    headers and parts, by the standard ``email`` package; text, whatever its label says
``words``, ``tokens``
    what is counted of a message
``model``
    from counts to evidence in decibans
``tables``, ``store``
    the SQLite file
``lessons``, ``training``
    one message scored, learnt and taken back; many messages learnt by all cores
``times``, ``copies``
    when a message was delivered, and which ones are near copies: what training is calibrated by
``garbage``
    how often Python looks for cycles while many messages are read
``verdict``
    spam, ham or unsure, whichever costs least

Nothing here imports NumPy: a mail server starts this program once per message.
"""
