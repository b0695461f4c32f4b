"""Every function of the module while Python's allocations fail, and whether any function leaks."""

import sys

import pytest
import sweeps

NO_MEMORY = '''
import _testcapi, pickle, sys
import tenon
from everything import attempts

ERRORS = (MemoryError, RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError, NotImplementedError, BufferError, OverflowError)
calls, failures = 0, 0
for name, call in attempts():
    calls += 1
    print(name, file=sys.stderr)
    for lasting in (False, True):  # one allocation fails; or all from there on
        successes = 0  # in a row: the call has no further allocations
        for start in range(1, 400):
            error = None
            try:
                _testcapi.set_nomemory(start, 0 if lasting else start + 1)
                try:
                    call()
                finally:
                    _testcapi.remove_mem_hooks()
            except ERRORS as caught:
                error = caught
            except pickle.PicklingError:
                pass
            except BaseException as caught:
                # Python itself raises SystemError if it cannot allocate a frame.
                if "error return without exception set" not in str(caught) and not str(caught).startswith("<function "):
                    print(name, start, lasting, repr(caught)[:300])
            failed = isinstance(error, MemoryError)
            failures += failed
            successes = 0 if failed else successes + 1
            if successes > 12:
                break
        error = None
try:
    assert (tenon.ones(2) + 1).tolist() == [2, 2] and pickle.loads(pickle.dumps(tenon.ones(2))).tolist() == [1, 1]
finally:
    assert calls > 250 and failures > 2500, (calls, failures)
'''


def test_allocations_of_python_that_fail(tmp_path):
    """If an allocation of Python fails, each call raises an ordinary error or gives its result; the module works afterwards."""
    pytest.importorskip("_testcapi")
    assert sweeps.run_apart(NO_MEMORY, folder=tmp_path, timeout=600) == ""


LEAKS = '''
import gc, resource, sys, tracemalloc
import tenon
from everything import attempts, flags, leaf, x, y

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

def repeat(call, times):
    for _ in range(times):
        try:
            call()
        except Exception:
            pass

watched = [x, y, flags, leaf, tenon.Tensor, tenon.Size, None, True, NotImplemented, tenon.float32]
calls = [(name, call) for name, call in attempts() if name not in ("subclass", "function class", "backward")]
assert len(calls) > 250
for name, call in calls:
    repeat(call, 20)
gc.collect()
gc.freeze()  # the collector then skips all existing objects
tracemalloc.start()
for name, call in calls:
    print(name, file=sys.stderr)
    repeat(call, 20)  # fills caches
    for times in (100, 100, 100, 1000):  # repeated, because tables of the interpreter sometimes grow
        gc.collect()
        counts, objects, (traced, _) = [sys.getrefcount(value) for value in watched], len(gc.get_objects()), tracemalloc.get_traced_memory()
        repeat(call, times)
        gc.collect()
        grown = [b - a for a, b in zip(counts, [sys.getrefcount(value) for value in watched])]
        more_objects, more_bytes = len(gc.get_objects()) - objects, tracemalloc.get_traced_memory()[0] - traced
        if max(map(abs, grown)) < times // 2 and more_objects < times // 2 and more_bytes < times * 16:
            break
    else:
        print("leaks:", name, grown, more_objects, more_bytes)
tracemalloc.stop()
for name, call in calls:
    repeat(call, 100)
gc.collect()
before = resident()
for name, call in calls:
    repeat(call, 300)
gc.collect()
grown = resident() - before
if grown > 300 * len(calls) * 4:  # four bytes for each call
    print("resident memory has grown by", grown, "bytes")
'''


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
def test_no_call_leaks(tmp_path):
    """No call of any function, valid or invalid, leaks references, objects or memory."""
    pytest.importorskip("_testcapi")
    assert sweeps.run_apart(LEAKS, folder=tmp_path, timeout=600) == ""
