"""A process that is recorded, without a GPU."""

import rtl

with rtl.trace("all") as recording:
    assert recording and str(recording) == "this process is recorded"
    with rtl.range("inner"):
        rtl.mark("moment")
with rtl.range("paused"):
    pass
recording.start()
with recording.range("resumed"):
    pass
