"""What can go wrong in a way that a user can understand and mend."""


class LlmcError(Exception):
    """An expected failure: `what` happened, and the `hint` says what to do now."""

    exit_code = 1

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class WrongWordsError(LlmcError):
    """The command line itself does not make sense."""

    exit_code = 2


class IllegalEventError(LlmcError):
    """The worker cannot take this event in the state that it is in; nothing was changed."""
