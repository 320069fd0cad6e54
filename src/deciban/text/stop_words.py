"""Short lists of words that say little about any subject, by language.

They leave out what changes a meaning: "not", "no", 不 and 没 are no stop words. Where Chinese is
cut into characters and pairs, its words of one character are left out, and pairs with them; those
of more are for texts that a segmenter has cut.
"""

from __future__ import annotations

from collections.abc import Iterable

from deciban.errors import ParameterError

ENGLISH = """
a about above after again all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each either else ever for from further
had has have having he her here hers herself him himself his how i if in into is it its itself just
let ll many may me might more most much must my myself of off on once one only or other our ours
ourselves out over own quite rather re same shall she should since so some still such than that the
their theirs them themselves then there these they this those through to too under until up upon us
ve very was we were what when where whether which while who whom whose why will with would yet you
your yours yourself yourselves
"""
CHINESE = """
的 地 得 了 着 之 与 和 及 而 且 或 但 则 于 以 是 在 有 也 就 都 又 还 把 被 从 到 对 向 跟 给
让 我 你 他 她 它 们 这 那 个 其 此 该 每 各 吗 呢 吧 啊 呀 嘛 啦 哦 嗯 么 所 因 由 将 并 等 您
咱 我们 你们 他们 她们 它们 咱们 自己 这个 那个 这些 那些 这里 那里 这样 那样 什么 怎么 因为
所以 如果 虽然 但是 而且 或者 以及 并且 于是 然后 就是 还是 只是 可以 已经 一个 一些 一样 一种
其中 其他 对于 关于 由于 为了 以后 以前 之后 之前 的话 的时候
"""
#: The lists by the name of their language.
STOP_WORDS = {"english": tuple(ENGLISH.split()), "chinese": tuple(CHINESE.split())}


def stop_words(stated: str | Iterable[str]) -> tuple[str, ...]:
    """Each stop word once, in order: those of a language by its name, or those that are given.

    >>> "the" in stop_words("english"), stop_words(["b", "a", "b"])
    (True, ('a', 'b'))
    """
    if isinstance(stated, str):
        if stated not in STOP_WORDS:
            raise ParameterError(
                f"stop_words must be words or the name of a language, got {stated!r}.",
                hint=f'there are {" and ".join(map(repr, STOP_WORDS))}; or ["the", "a", "of"]',
            )
        return tuple(sorted(set(STOP_WORDS[stated])))
    words = list(stated) if isinstance(stated, Iterable) else [stated]
    if not all(isinstance(word, str) for word in words):
        raise ParameterError(
            f"stop_words must be words, got {stated!r}.", hint='for instance ["the", "a", "of"]'
        )
    return tuple(sorted(set(words)))
