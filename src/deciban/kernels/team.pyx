"""Threads that share the items of a piece of work, which a kernel leads; see team.h."""

cdef extern from "team.h":
    void start "deciban_team_start"(Members*, Py_ssize_t) noexcept nogil
    void end "deciban_team_end"(Members*) noexcept nogil
    void take_part "deciban_team_help"(Members*) noexcept nogil
    void send_away "deciban_team_dismiss"(Members*) noexcept nogil


cdef class Team:
    """At most ``room`` threads, of which the one that runs the kernel is the first."""

    def __cinit__(self, Py_ssize_t room):
        start(&self.members, room)

    def __dealloc__(self):
        end(&self.members)

    def help(self):
        """Take part, until the team is dismissed."""
        with nogil:
            take_part(&self.members)

    def dismiss(self):
        """Whoever helps, or comes to help, may go."""
        with nogil:
            send_away(&self.members)
