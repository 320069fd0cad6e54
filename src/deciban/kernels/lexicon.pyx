"""Tokens by number, and the tokens of a message. Nothing here needs NumPy."""

from array import array
from os import urandom

from cpython.array cimport array as Array
from cpython.unicode cimport PyUnicode_FindChar, PyUnicode_Tailmatch

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

cdef enum:
    MIN_SLOT_BITS = 10  # half of the slots are entries at most
    MIN_NUMBERS = 64
    MAX_MESSAGES = 0x7FFFFFFF


cdef uint32_t section_of(str token, tuple prefixes) except? 9999:
    """0 without a prefix, else its number from 1 on; one more than there are if it is another."""
    cdef:
        Py_ssize_t at = PyUnicode_FindChar(token, ord(":"), 0, len(token), 1)
        uint32_t section = 1
        str prefix
    if at < 0:
        return 0
    for prefix in prefixes:
        if len(prefix) == at and PyUnicode_Tailmatch(token, prefix, 0, at, -1):
            break
        section += 1
    return section


cdef class Lexicon:
    """Different tokens, in the order in which they came, and a count of each.

    ``prefixes`` are what stands before the colon of tokens. A count is the number of messages of
    ham, plus 2 ** 32 times that of spam. ``characters`` are those of all tokens, ``forgotten`` is
    how often all counts were set to zero.

    >>> lexicon = Lexicon(("to",))
    >>> lexicon.merge(["a", "to:b"], array("q", [1, 2])), lexicon.counts(["to:b", "c"])
    (array('i', [0, 1]), array('q', [2, 0]))
    """

    def __cinit__(self, tuple prefixes=()):
        cdef bytes secret = urandom(16)
        memcpy(&self.start, <const char*>secret, 8)
        memcpy(&self.multiplier, <const char*>secret + 8, 8)
        self.multiplier |= 1
        self.texts, self.prefixes, self.slot_bits = [], prefixes, MIN_SLOT_BITS
        self.slots = <Slot*>calloc(1 << MIN_SLOT_BITS, sizeof(Slot))
        self.entries = <Entry*>calloc(1 << (MIN_SLOT_BITS - 1), sizeof(Entry))
        if self.slots == NULL or self.entries == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.entries)

    def __len__(self):
        return len(self.texts)

    def merge(self, list texts not None, const int64_t[::1] counts):
        """Add a count of its own to each of some tokens; the number of each, from 0."""
        cdef:
            Array out = array("i", bytes(sizeof(int) * len(texts)))
            Py_ssize_t i
        if len(texts) != counts.shape[0]:
            message = f"one count a token is needed, got {counts.shape[0]} for {len(texts)}."
            raise ValueError(message)
        for i in range(counts.shape[0]):
            out.data.as_ints[i] = self.slot_of(texts[i]).number - 1
            self.entries[out.data.as_ints[i]].count += counts[i]
        return out

    def merge_rows(self, list rows not None):
        """Add the messages of ham and of spam to the counts of tokens.

        Rows that have anything else but a str and two numbers from 0 to 2 ** 31 - 1 are refused.

        >>> lexicon = Lexicon()
        >>> lexicon.merge_rows([("a", 1, 2)]), lexicon.counts(["a"])
        (None, array('q', [8589934593]))
        """
        cdef:
            int64_t ham, spam
            tuple row
        for row in rows:
            if len(row) != 3 or not (type(row[0]) is str and type(row[1]) is type(row[2]) is int):
                raise TypeError(f"a token and two numbers are needed, got {row}.")
            ham, spam = row[1], row[2]
            if not (0 <= ham <= MAX_MESSAGES and 0 <= spam <= MAX_MESSAGES):
                raise ValueError(f"the counts {ham} and {spam}")
        for row in rows:
            ham, spam = row[1], row[2]
            self.entries[self.slot_of(row[0]).number - 1].count += ham + (spam << 32)

    def counts(self, list texts=None):
        """The counts of all tokens, or of some: known from now on, if only with a zero."""
        cdef:
            Array out = array("q", bytes(8 * len(self.texts if texts is None else texts)))
            Py_ssize_t i
        if texts is None:
            for i in range(len(self.texts)):
                out.data.as_longlongs[i] = self.entries[i].count
            return out
        for i in range(len(texts)):
            out.data.as_longlongs[i] = self.entries[self.slot_of(texts[i]).number - 1].count
        return out

    def forget(self):
        """Set all counts to zero."""
        cdef Py_ssize_t i
        self.forgotten += 1
        for i in range(len(self.texts)):
            self.entries[i].count = 0

    def tokens(self, texts):
        """The message of these tokens.

        >>> list(Lexicon().tokens(["b", "a", "b"]))
        ['b', 'a']
        """
        out = Tokens(self)
        out.update(texts)
        return out

    def message(self, const int[::1] own, const int[::1] numbers):
        """The message of those of some tokens, by their ``numbers`` here, that have places ``own``.

        Places are different ones, and numbers too. Nothing can be added to the message.

        >>> lexicon = Lexicon()
        >>> numbers = lexicon.merge(["a", "b", "c"], array("q", [1, 1, 1]))
        >>> list(lexicon.message(array("i", [2, 0]), numbers))
        ['c', 'a']
        """
        cdef:
            Tokens out = Tokens(self)
            Py_ssize_t i
        out.reserve(own.shape[0])
        for i in range(own.shape[0]):
            if not (0 <= own[i] < numbers.shape[0] and 0 <= numbers[own[i]] < len(self.texts)):
                raise IndexError(f"a place of {numbers.shape[0]} is needed, got {own[i]}.")
            out.numbers[i] = numbers[own[i]]
            out.n += 1
        self.rounds += 1
        return out

    cdef Slot* slot_of(self, str token) except NULL:
        """The slot of a token; a new one is made."""
        cdef:
            uint64_t key
            Slot* slot
            void* data
            int kind
        if token is None:
            raise TypeError("a token must be a str, got None.")
        data, kind = PyUnicode_DATA(token), PyUnicode_KIND(token)
        if kind == 1:
            key = key_of(<const uint8_t*>data, len(token), self.start)
            slot = find_token(self, "", <const uint8_t*>data, len(token), key)
        elif kind == 2:
            key = key_of(<const uint16_t*>data, len(token), self.start)
            slot = find_token(self, "", <const uint16_t*>data, len(token), key)
        else:
            key = key_of(<const uint32_t*>data, len(token), self.start)
            slot = find_token(self, "", <const uint32_t*>data, len(token), key)
        return slot if slot != NULL else self.append(token, key)

    cdef Slot* append(self, str token, uint64_t key) except NULL:
        """The slot of a token that is new."""
        cdef:
            Py_ssize_t number = len(self.texts)
            uint32_t section = section_of(token, self.prefixes)
            Slot* slot
        if number >= <Py_ssize_t>1 << (self.slot_bits - 1):
            self.grow()
        self.texts.append(token)
        self.characters += len(token)
        self.entries[number] = Entry(<PyObject*>token, 0, section)
        slot = self.free_slot(key)
        slot[0] = Slot(key, <int32_t>(number + 1), 0)
        return slot

    cdef Slot* free_slot(self, uint64_t key) noexcept:
        """Where what is new by this key is to stand."""
        cdef:
            Py_ssize_t mask = (<Py_ssize_t>1 << self.slot_bits) - 1
            Py_ssize_t place = key * self.multiplier >> (64 - self.slot_bits)
        while self.slots[place].number:
            place = (place + 1) & mask
        return &self.slots[place]

    cdef int grow(self) except -1:
        cdef:
            Py_ssize_t n = <Py_ssize_t>1 << self.slot_bits, i
            Slot* old = self.slots
            Slot* slots = <Slot*>calloc(2 * n, sizeof(Slot))
            Entry* entries = NULL
        if slots != NULL:
            entries = <Entry*>realloc(self.entries, n * sizeof(Entry))
        if entries == NULL:
            free(slots)
            raise MemoryError
        self.entries, self.slots, self.slot_bits = entries, slots, self.slot_bits + 1
        for i in range(n):
            if old[i].number:
                self.free_slot(old[i].key)[0] = old[i]
        free(old)
        return 0


cdef class Tokens:
    """The different tokens of one message, in the order in which they came.

    A message is read to its end before the next one of the same lexicon.

    >>> tokens = Tokens(Lexicon())
    >>> tokens.add("b"), tokens.update(["a", "b"]), list(tokens)
    (None, None, ['b', 'a'])
    """

    def __cinit__(self, Lexicon lexicon not None):
        lexicon.rounds += 1
        if not lexicon.rounds:
            raise OverflowError("a lexicon is for less than 2 ** 32 messages.")
        self.lexicon, self.round, self.capacity = lexicon, lexicon.rounds, MIN_NUMBERS
        self.numbers = <int32_t*>calloc(MIN_NUMBERS, sizeof(int32_t))
        if self.numbers == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.numbers)

    def __len__(self):
        return self.n

    def __iter__(self):
        cdef Py_ssize_t i
        return iter([self.lexicon.texts[self.numbers[i]] for i in range(self.n)])

    def add(self, str token not None):
        """Add a token, unless it is there."""
        self.update((token,))

    def update(self, texts):
        """Add tokens that are not there."""
        cdef:
            Slot* slot
            str token
        self.begin()
        for token in texts:
            slot = self.lexicon.slot_of(token)
            if slot.round != self.round:
                self.append(slot)

    def count(self, int64_t count):
        """Add a number to the counts of these tokens.

        >>> lexicon = Lexicon()
        >>> lexicon.tokens(["a"]).count(3), lexicon.counts(["a"])
        (None, array('q', [3]))
        """
        cdef Py_ssize_t i
        for i in range(self.n):
            self.lexicon.entries[self.numbers[i]].count += count

    def numbers_of(self):
        """The numbers of these tokens in the lexicon, from 0.

        >>> Lexicon().tokens(["b", "a", "b"]).numbers_of()
        array('i', [0, 1])
        """
        cdef Array out = array("i", bytes(sizeof(int) * self.n))
        if self.n:
            memcpy(out.data.as_ints, self.numbers, sizeof(int) * self.n)
        return out

    def counts(self, const int64_t[::1] before=None):
        """The counts of these tokens; of what was counted since, if those ``before`` are given.

        >>> tokens = Lexicon().tokens(["a"])
        >>> before = tokens.counts()
        >>> tokens.count(3), tokens.counts(before)
        (None, array('q', [3]))
        """
        cdef:
            Array out = array("q", bytes(8 * self.n))
            Py_ssize_t i
        if before is not None and before.shape[0] != self.n:
            raise ValueError("a count is needed for every token")
        for i in range(self.n):
            out.data.as_longlongs[i] = self.lexicon.entries[self.numbers[i]].count
            if before is not None:
                out.data.as_longlongs[i] -= before[i]
        return out

    cdef int begin(self) except -1:
        """See that no other message was begun: what it added would not be known to be here."""
        if self.round != self.lexicon.rounds:
            raise ValueError("this message cannot be added to: another of its lexicon was begun.")
        return 0

    cdef int append(self, Slot* slot) except -1:
        """Add a token that is not there."""
        if self.n == self.capacity:
            self.reserve(2 * self.capacity)
        slot.round = self.round
        self.numbers[self.n] = slot.number - 1
        self.n += 1
        return 0

    cdef int reserve(self, Py_ssize_t capacity) except -1:
        """Make place for so many tokens."""
        cdef int32_t* numbers
        if capacity > self.capacity:
            numbers = <int32_t*>realloc(self.numbers, capacity * sizeof(int32_t))
            if numbers == NULL:
                raise MemoryError
            self.numbers, self.capacity = numbers, capacity
        return 0
