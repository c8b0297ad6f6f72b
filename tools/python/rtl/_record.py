"""Control of the recording of this process, through the functions of librtl.so where that is loaded."""

import contextlib
import ctypes

_NOT_RECORDED = "this process is not recorded: start it by `rtl trace python3 ...`"


class Recording:
    """The recording of this process; false where there is none. As text it says which."""

    def __init__(self, library):
        self._library = library

    def __bool__(self):
        return self._library is not None

    def __str__(self):
        return "this process is recorded" if self else _NOT_RECORDED

    def start(self):
        """Starts recording, or resumes it."""
        if self:
            self._library.roctxProfilerResume(0)

    def stop(self):
        """Pauses recording: what was launched until here is recorded when it completes."""
        if self:
            self._library.roctxProfilerPause(0)

    @contextlib.contextmanager
    def range(self, name):
        """A range of this thread around what is within."""
        if self:
            self._library.roctxRangePushA(name.encode())
        try:
            yield
        finally:
            if self:
                self._library.roctxRangePop()

    def mark(self, name):
        """A marker at this moment."""
        if self:
            self._library.roctxMarkA(name.encode())


@contextlib.contextmanager
def trace(name=None):
    """Records what is within, as a range where it has a name, and stops recording after it.

    With `RTL_START=stopped` the trace has nothing else. In a process that is not recorded it does nothing, and the
    `Recording` that it gives is false.
    """
    recording = Recording(_tracer())
    recording.start()
    try:
        with contextlib.nullcontext() if name is None else recording.range(name):
            yield recording
    finally:
        recording.stop()


def range(name):
    """A range of this thread around what is within; it starts and stops nothing."""
    return Recording(_tracer()).range(name)


def mark(name):
    """A marker at this moment."""
    Recording(_tracer()).mark(name)


def _tracer():
    """librtl.so, if this process has it."""
    # The tracer hides behind the name of a library that programs of HIP may load themselves: rtl_flush is its own.
    library = ctypes.CDLL(None)
    if not hasattr(library, "rtl_flush"):
        path = _mapped()
        library = ctypes.CDLL(path) if path else None
    if library is not None:
        library.roctxRangePushA.argtypes = library.roctxMarkA.argtypes = [ctypes.c_char_p]
        library.roctxProfilerPause.argtypes = library.roctxProfilerResume.argtypes = [ctypes.c_uint64]
    return library


def _mapped():
    """The path of a librtl.so that was loaded without its symbols, as the ROCm runtime does it."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            lines = maps.read().splitlines()
    except OSError:
        return None
    return next((line[line.index("/") :] for line in lines if line.endswith("/librtl.so")), None)
