"""A reader of the Arrow C data interface: streams of tables from any library.

The capsule's stream is moved into :class:`Stream`, which releases it when it
is dropped. A :class:`Chunk` owns the arrays of one batch, an :class:`Array`
is one column of it, and the NumPy arrays it gives out are views that keep
their chunk alive: nothing is copied and nothing is released too early.

What a format string means is said in ``deciban.sources.arrow``, not here.
"""

import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from deciban.errors import InputError

cdef extern from *:
    """
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    struct ArrowSchema {
      const char* format; const char* name; const char* metadata; int64_t flags;
      int64_t n_children; struct ArrowSchema** children; struct ArrowSchema* dictionary;
      void (*release)(struct ArrowSchema*); void* private_data;
    };
    struct ArrowArray {
      int64_t length; int64_t null_count; int64_t offset; int64_t n_buffers; int64_t n_children;
      const void** buffers; struct ArrowArray** children; struct ArrowArray* dictionary;
      void (*release)(struct ArrowArray*); void* private_data;
    };
    #endif
    #ifndef ARROW_C_STREAM_INTERFACE
    #define ARROW_C_STREAM_INTERFACE
    struct ArrowArrayStream {
      int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
      int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
      const char* (*get_last_error)(struct ArrowArrayStream*);
      void (*release)(struct ArrowArrayStream*); void* private_data;
    };
    #endif
    """
    struct ArrowSchema:
        const char* format
        const char* name
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*) noexcept
    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void** buffers
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept
    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
        int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept nogil
        const char* (*get_last_error)(ArrowArrayStream*) noexcept
        void (*release)(ArrowArrayStream*) noexcept


class ArrowError(InputError):
    """The producer of a stream reported an error, or its arrays are malformed."""


cdef class Stream:
    """The chunks of an ``arrow_array_stream`` capsule; iterate over it once.

    ``fields`` has one ``(name, format, dictionary format)`` a column; the last
    is empty where there is no dictionary. A stream of plain arrays, such as a
    Series, is a table of one column.
    """

    cdef ArrowArrayStream stream
    cdef readonly bint is_table
    cdef readonly list fields

    def __cinit__(self, capsule not None):
        cdef ArrowArrayStream* given
        self.stream.release = NULL
        if not PyCapsule_IsValid(capsule, "arrow_array_stream"):
            raise ArrowError("not an arrow_array_stream capsule")
        given = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        if given.release == NULL:
            raise ArrowError("the stream was read before")
        self.stream = given[0]
        given.release = NULL
        self.read_schema()

    def __dealloc__(self):
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    def close(self):
        """Release the stream now; chunks that were read stay alive."""
        if self.stream.release != NULL:
            self.stream.release(&self.stream)
            self.stream.release = NULL

    cdef read_schema(self):
        cdef ArrowSchema schema
        memset(&schema, 0, sizeof(schema))
        if self.stream.get_schema(&self.stream, &schema) != 0:
            raise self.failure()
        try:
            self.is_table = schema.format == b"+s"
            if self.is_table:
                self.fields = [describe(schema.children[i]) for i in range(schema.n_children)]
            else:
                self.fields = [describe(&schema)]
        finally:
            if schema.release != NULL:
                schema.release(&schema)

    cdef failure(self):
        cdef const char* text = self.stream.get_last_error(&self.stream)
        if text == NULL:
            return ArrowError("the stream broke off without saying why")
        return ArrowError((<bytes>text).decode("utf-8", "replace"))

    def __iter__(self):
        return self

    def __next__(self):
        cdef Chunk chunk = Chunk.__new__(Chunk)
        cdef int code
        if self.stream.release == NULL:
            raise StopIteration
        with nogil:      # the producer's threads may need the interpreter
            code = self.stream.get_next(&self.stream, &chunk.root)
        if code != 0:
            raise self.failure()
        if chunk.root.release == NULL:
            self.close()
            raise StopIteration
        chunk.is_table = self.is_table
        if self.is_table and chunk.root.n_children != len(self.fields):
            raise ArrowError("a chunk has another number of columns than the schema")
        return chunk


cdef tuple describe(ArrowSchema* schema):
    """The name of a column, its format, and that of its dictionary or items, or nothing."""
    name = b"" if schema.name == NULL else <bytes>schema.name
    values = b"" if schema.dictionary == NULL else <bytes>schema.dictionary.format
    if schema.n_children == 1 and (<bytes>schema.format).startswith((b"+l", b"+L")):
        values = <bytes>schema.children[0].format
    return (name.decode("utf-8", "replace"), (<bytes>schema.format).decode(), values.decode())


cdef class Chunk:
    """One batch of a stream: the owner of its arrays."""

    cdef ArrowArray root
    cdef bint is_table

    def __cinit__(self):
        memset(&self.root, 0, sizeof(self.root))

    def __dealloc__(self):
        if self.root.release != NULL:
            self.root.release(&self.root)

    def __len__(self):
        return self.root.length

    def column(self, Py_ssize_t i, Py_ssize_t start, Py_ssize_t stop):
        """Rows ``start .. stop`` of column ``i``."""
        cdef ArrowArray* child
        if not 0 <= start <= stop <= self.root.length:
            raise IndexError("rows outside the chunk")
        if not self.is_table and i == 0:
            return slice_of(self, &self.root, self.root.offset + start, stop - start)
        if not 0 <= i < self.root.n_children:
            raise IndexError("no such column")
        # A sliced table says so in the parent: its offset comes on top of the child's.
        child = self.root.children[i]
        if self.root.offset + stop > child.length:
            raise ArrowError("a column is shorter than its table")
        return slice_of(self, child, child.offset + self.root.offset + start, stop - start)


cdef Array slice_of(Chunk owner, ArrowArray* array, Py_ssize_t first, Py_ssize_t length):
    cdef Array out = Array.__new__(Array)
    out.owner, out.array, out.first, out.length = owner, array, first, length
    return out


cdef class Array:
    """Some rows of one column: ``length`` of them, beginning at element ``first``."""

    cdef Chunk owner
    cdef ArrowArray* array
    cdef readonly Py_ssize_t first
    cdef readonly Py_ssize_t length

    def dictionary(self):
        """All values that the column's indices point to."""
        if self.array.dictionary == NULL:
            raise ArrowError("a dictionary is missing")
        return slice_of(self.owner, self.array.dictionary, self.array.dictionary.offset,
                        self.array.dictionary.length)

    def items(self, Py_ssize_t start, Py_ssize_t stop):
        """Items ``start .. stop`` of all those that a column of lists has."""
        if self.array.n_children != 1 or not 0 <= start <= stop <= self.array.children[0].length:
            raise ArrowError("the items of a list are missing")
        return slice_of(self.owner, self.array.children[0],
                        self.array.children[0].offset + start, stop - start)

    def buffer(self, Py_ssize_t k, Py_ssize_t start, Py_ssize_t stop):
        """Bytes ``start .. stop`` of buffer ``k``, as a view."""
        if not 0 <= k < self.array.n_buffers:
            raise ArrowError(f"buffer {k} is missing")
        if stop <= start:
            return np.empty(0, dtype=np.uint8)
        if self.array.buffers[k] == NULL:
            raise ArrowError(f"buffer {k} is empty")
        return np.frombuffer(
            View.of(self.owner, <const uint8_t*>self.array.buffers[k] + start, stop - start),
            dtype=np.uint8,
        )

    def missing(self):
        """True where the validity bitmap says that there is no value."""
        if self.array.n_buffers == 0 or self.array.null_count == 0:
            return np.zeros(self.length, dtype=bool)
        if self.array.buffers[0] == NULL:
            return np.zeros(self.length, dtype=bool)
        return ~self.bits(0)

    def bits(self, Py_ssize_t k):
        """The bitmap in buffer ``k``, one boolean a row."""
        if self.length == 0:
            return np.zeros(0, dtype=bool)
        packed = self.buffer(k, self.first >> 3, (self.first + self.length + 7) >> 3)
        loose = np.unpackbits(packed, bitorder="little").view(np.bool_)
        return loose[self.first & 7 : (self.first & 7) + self.length]

    def gather(self, missing):
        """A column of views (``vu``, ``vz``) as offsets and bytes that lie side by side."""
        cdef:
            Py_ssize_t n = self.length, extra = self.array.n_buffers - 3, i
            const uint8_t[::1] gap = missing.view(np.uint8)
            int64_t[::1] offsets = np.zeros(n + 1, dtype=np.int64)
            uint8_t[::1] data
            const uint8_t* views
            const int64_t* sizes
            int32_t length
            int64_t total = 0
        if n == 0:
            return np.asarray(offsets), np.empty(0, dtype=np.uint8)
        if extra < 0 or self.array.buffers[1] == NULL:
            raise ArrowError("a column of string views lacks a buffer")
        views = <const uint8_t*>self.array.buffers[1] + 16 * self.first
        sizes = <const int64_t*>self.array.buffers[self.array.n_buffers - 1]
        for i in range(n):
            memcpy(&length, views + 16 * i, 4)
            if not gap[i]:
                if length < 0:
                    raise ArrowError("a string view has a negative length")
                total += length
            offsets[i + 1] = total
        data = np.empty(max(total, 1), dtype=np.uint8)
        with nogil:
            i = copy_views(views, self.array.buffers + 2, sizes, extra, gap, offsets, &data[0])
        if i < n:
            raise ArrowError("a string view points outside its buffers")
        return np.asarray(offsets), np.asarray(data)[:total]


cdef Py_ssize_t copy_views(
    const uint8_t* views, const void** buffers, const int64_t* sizes, Py_ssize_t n_buffers,
    const uint8_t[::1] gap, const int64_t[::1] offsets, uint8_t* out,
) noexcept nogil:
    """Copy what the views point to; the row of the first bad view, or their number."""
    cdef:
        Py_ssize_t i, n = gap.shape[0]
        int32_t[4] view      # length, prefix, buffer, offset; short text lies in the view itself
    for i in range(n):
        if gap[i]:
            continue
        memcpy(&view[0], views + 16 * i, 16)
        if view[0] <= 12:
            memcpy(out + offsets[i], views + 16 * i + 4, view[0])
            continue
        if not (0 <= view[2] < n_buffers and 0 <= view[3]
                and <int64_t>view[3] + view[0] <= sizes[view[2]]):
            return i
        memcpy(out + offsets[i], <const uint8_t*>buffers[view[2]] + view[3], view[0])
    return n


cdef class View:
    """Read-only bytes of a chunk, through Python's buffer protocol."""

    cdef Chunk owner
    cdef const void* at
    cdef Py_ssize_t size

    @staticmethod
    cdef View of(Chunk owner, const void* at, Py_ssize_t size):
        cdef View view = View.__new__(View)
        view.owner, view.at, view.size = owner, at, size
        return view

    def __getbuffer__(self, Py_buffer* info, int flags):
        PyBuffer_FillInfo(info, self, <void*>self.at, self.size, 1, flags)


def take(const int64_t[::1] offsets, const uint8_t[::1] data, const int64_t[::1] rows):
    """The texts of some rows, in their order; a row below 0 gives an empty text."""
    cdef:
        Py_ssize_t n = rows.shape[0], i, r
        int64_t[::1] start = np.zeros(n + 1, dtype=np.int64)
        uint8_t[::1] out
        int64_t total = 0
    with nogil:
        for i in range(n):
            r = rows[i]
            total += offsets[r + 1] - offsets[r] if r >= 0 else 0
            start[i + 1] = total
    out = np.empty(max(total, 1), dtype=np.uint8)
    with nogil:
        for i in range(n):
            if start[i + 1] > start[i]:
                memcpy(&out[start[i]], &data[offsets[rows[i]]], start[i + 1] - start[i])
    return np.asarray(start), np.asarray(out)[:total]
