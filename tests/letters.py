"""Messages for tests, made here."""

HAM = [
    b"From: ann@example.org\nTo: bob@example.org\nSubject: Minutes of Monday %d\n\n"
    b"Here are the minutes of our meeting, with the agenda for next week. Regards, Ann %d\n"
    % (i, i)
    for i in range(12)
]
SPAM = [
    b"From: win%d@prizes.example\nTo: bob@example.org\nSubject: You WON a free prize!!\n\n"
    b"Click http://prizes.example/claim?%d to get $1,000 now, risk free. Unsubscribe below.\n"
    % (i, i)
    for i in range(12)
]
NEW_SPAM = b"From: win@prizes.example\nSubject: free prize!!\n\nClick now, unsubscribe risk free\n"
NEW_HAM = b"From: ann@example.org\nSubject: Minutes\n\nThe agenda of the meeting next week. Ann\n"


def learnt(store, ham=HAM, spam=SPAM):
    """A store that has learnt messages."""
    from deciban.mail.lessons import learn, read

    for number in range(max(len(ham), len(spam))):
        for messages, is_spam in ((ham, False), (spam, True)):
            if number < len(messages):
                assert learn(store, read(messages[number]), is_spam) == "learnt"
    return store


def everything(store):
    """All that is in a store; of tokens the counts, since their hashes are of one store only."""
    from deciban.kernels import buckets

    rows = store.connection.execute
    tables = ("levels", "lessons", "totals")
    out = {name: rows(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in tables}
    own = [pair for (one,) in rows("SELECT rows FROM tokens") for pair in buckets.pairs(one)]
    assert store.vocabulary() == len(own)
    return {"tokens": sorted(own), **out}
