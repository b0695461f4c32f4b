"""How much memory a call takes, for tests."""

import pathlib
import threading
import time


def most_anonymous(call):
    """(what a call gives, the most anonymous memory that the process had more during it than before)."""

    def anonymous():
        status = pathlib.Path("/proc/self/status").read_text().split()
        return int(status[status.index("RssAnon:") + 1]) << 10

    before, peak, ended = anonymous(), 0, False

    def watch():
        nonlocal peak
        while not ended:
            peak = max(peak, anonymous())
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return call(), peak - before
    finally:
        ended = True
        watcher.join()
