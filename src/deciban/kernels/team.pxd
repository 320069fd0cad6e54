"""Threads that share the items of a piece of work; see team.h."""

cdef extern from "team.h":
    ctypedef void (*Task "deciban_task")(void*, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef struct Members "deciban_team":
        Py_ssize_t room
    void share "deciban_team_share"(Members*, Task, void*, Py_ssize_t) noexcept nogil


cdef class Team:
    cdef Members members
