"""Errors."""


class Error(Exception):
    """What failed, on one line; `hint` is what to try, where that is known."""

    def __init__(self, message, hint=None):
        super().__init__(message)
        self.hint = hint

    def __str__(self):
        message = super().__str__()
        return f"{message}\nhint: {self.hint}" if self.hint else message
