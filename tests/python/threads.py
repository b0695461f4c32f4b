"""Many threads that use Tenon at once: `python threads.py [SECONDS]`, 2 by default. Needs no other package.

Each thread does the tasks below in an order of its own. All share some tensors, which none writes, a fused function and a
leaf, whose gradients add up. Every result is compared with the one that is known. Without a GIL the tasks run side by side.
"""

import copy
import faulthandler
import gc
import pickle
import random
import sys
import threading
import time
import traceback
import weakref

import tenon

THREADS = 8
SHARED = tenon.arange(12.0).reshape(3, 4)
ROW = tenon.tensor([1.0, 2.0, 3.0, 4.0])
LARGE = tenon.ones(300, 1) + tenon.arange(200.0)  # long enough for the engine's own threads
LEAF = tenon.zeros(3, requires_grad=True)
FACTOR = 2.0


@tenon.fuse
def shared_fused(x, row, power=2):
    return (x * FACTOR + row) ** power


@tenon.fuse
def several(x):
    return {"twice": x * 2, "parts": (x + 1, [x - 1])}


class Cube(tenon.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


def check(given, wanted, what=""):
    if given != wanted:
        raise AssertionError(f"{what}: {given!r}, not {wanted!r}")


# --- Tasks. Each takes the thread's generator of random numbers.


def operators(rng):
    n = rng.randrange(1, 50)
    check((SHARED + n).tolist(), [[n + 4.0 * i + k for k in range(4)] for i in range(3)])
    check((SHARED * ROW).sum().item(), 180.0)
    check(tenon.add(SHARED, ROW, alpha=n)[2, 3].item(), 11.0 + 4 * n)
    check(tenon.cat([SHARED, SHARED], dim=0).shape, (6, 4))
    check(SHARED.sum(axis=0, keepdims=True).tolist(), [[12.0, 15.0, 18.0, 21.0]])
    check((LARGE * 2).sum().item(), 2 * (300 * 200 + 300 * 199 * 100))


def views(rng):
    i, k = rng.randrange(3), rng.randrange(4)
    check(SHARED[i, k].item(), 4.0 * i + k)
    check(SHARED.T[k].tolist(), [k, 4.0 + k, 8.0 + k])
    check(SHARED[:, k:].reshape(-1).numel(), 3 * (4 - k))
    check([row.tolist() for row in SHARED.unbind(1)][k], [k, 4.0 + k, 8.0 + k])
    check(ROW.expand(5, 4).stride(), (0, 1))


def in_place(rng):
    own = tenon.zeros(3, 4)
    for _ in range(rng.randrange(1, 9)):
        own.zero_().add_(ROW).mul_(2).sub_(SHARED)
        own[1] = ROW
        own[0, 1:] += 1
    check(own.tolist(), [[2.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0], [-6.0, -5.0, -4.0, -3.0]])


def fused(rng):
    n, power = rng.randrange(1, 40), rng.choice((1, 2, 3))
    x = tenon.ones(n, 4)
    check(shared_fused(x, ROW, power=power)[n - 1].tolist(), [(2.0 + k) ** power for k in (1, 2, 3, 4)])
    if power == 2:
        check(shared_fused(x, ROW)[0].tolist(), [9.0, 16.0, 25.0, 36.0])
    given = several(tenon.full((n,), 3.0))
    check((given["twice"][0].item(), given["parts"][0][0].item(), given["parts"][1][0][0].item()), (6.0, 4.0, 2.0))


def fused_anew(rng):
    n = rng.randrange(1, 9)
    own = tenon.fuse(lambda x: (x + n).clamp(0, 5) * 2)
    for _ in range(3):
        check(own(SHARED).tolist()[0], [2.0 * min(k + n, 5) for k in range(4)])


def fused_gradients(rng):
    x = tenon.ones(rng.randrange(1, 6), 4, requires_grad=True)
    shared_fused(x, ROW).sum().backward()
    check(x.grad[0].tolist(), [4.0 * (2 + k) for k in (1, 2, 3, 4)])


def gradients(rng):
    n = rng.randrange(1, 5)
    x, row = tenon.ones(n, 3, requires_grad=True), tenon.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * row).exp().log() + row
    y.retain_grad()
    y.sum().backward()
    check((row.grad.round().tolist(), y.grad.shape), ([2.0 * n] * 3, (n, 3)))
    check((x.grad is x.grad, x.grad.shape), (True, (n, 3)))


def nodes(rng):
    x = tenon.ones(3, requires_grad=True)
    y = rng.choice((lambda: x + 1, lambda: x * 2, lambda: x.sum(), lambda: x.exp(), lambda: x.view(3, 1), lambda: x[1:]))()
    node = y.grad_fn
    check(y.grad_fn is node, True, "a node is one object")
    check(repr(node).startswith("<" + type(node).__name__ + " object at"), True)
    check(node.next_functions[0][0].variable is x, True)


def shared_leaf(rng):
    (LEAF * 1.0 + ROW[:3]).sum().backward()  # adds ones to LEAF.grad


def custom_functions(rng):
    x = tenon.tensor([2.0, float(rng.randrange(5))], requires_grad=True)
    y = Cube.apply(x)
    check(type(y.grad_fn).__name__, "CubeBackward")
    y.sum().backward()
    check(x.grad.tolist(), [12.0, 3 * x[1].item() ** 2])


def hooks(rng):
    seen = []
    x = tenon.ones(3, requires_grad=True)
    x.register_hook(lambda grad: seen.append(grad.tolist()) or grad * 2)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf is x))
    y = x * 3
    handle = y.register_hook(lambda grad: seen.append("removed"))
    y.grad_fn.register_prehook(lambda grads: seen.append(len(grads)))
    handle.remove()
    y.sum().backward()
    check((seen, x.grad.tolist()), ([1, [3.0, 3.0, 3.0], True], [6.0, 6.0, 6.0]))


def cycles(rng):
    """What only the garbage collector frees: a hook that holds its tensor."""
    x = tenon.ones(2, requires_grad=True)
    x.register_hook(lambda grad: x.numel() and None)
    dead = weakref.ref(x)
    del x
    if rng.random() < 0.02:
        gc.collect()
        check(dead(), None, "a cycle is collected")


def texts(rng):
    check(repr(SHARED), "tensor([[ 0.,  1.,  2.,  3.],\n        [ 4.,  5.,  6.,  7.],\n        [ 8.,  9., 10., 11.]])")
    check(repr(tenon.ones(2, requires_grad=True) * 2), "tensor([2., 2.], grad_fn=<MulBackward0>)")
    check(str(SHARED.dtype), "tenon.float32")


def copies(rng):
    again = pickle.loads(pickle.dumps(SHARED))
    check((again.tolist(), again.stride()), (SHARED.tolist(), (4, 1)))
    check(copy.deepcopy(ROW).tolist(), ROW.tolist())
    check(tenon.from_dlpack(SHARED).data_ptr(), SHARED.data_ptr())
    check(memoryview(SHARED).shape, (3, 4))
    check(tenon.tensor([[rng.random()] * 3] * 2).shape, (2, 3))


def errors(rng):
    for call in (lambda: SHARED + tenon.ones(3), lambda: tenon.add(SHARED), lambda: SHARED[7], lambda: SHARED.view(5)):
        try:
            call()
        except (RuntimeError, TypeError, IndexError) as error:
            check(bool(str(error)), True)
        else:
            raise AssertionError("no error")


def modes(rng):
    with tenon.no_grad():
        check((LEAF * 2).requires_grad, False)
        with tenon.enable_grad():
            check((LEAF * 2).requires_grad, True)
    with tenon.device("meta"):
        check(tenon.zeros(2).is_meta, True)
    with tenon.broadcast_policy(outer="raise"):
        try:
            ROW.reshape(4, 1) + ROW
        except RuntimeError:
            pass
        else:
            raise AssertionError("the policy is not this thread's")


def draws(rng):
    seed = rng.randrange(1000)
    first, second = (tenon.rand(50, generator=tenon.Generator().manual_seed(seed)) for _ in range(2))
    check(first.equal(second), True)
    check(tenon.randn(10).shape, (10,))


def lists(rng):
    """Lists that another thread changes: an error or a result, never a crash."""
    try:
        tenon.stack(CHANGING)
    except (RuntimeError, TypeError, IndexError, SystemError):
        pass
    CHANGING.append(tenon.ones(2))
    if len(CHANGING) > 5:
        CHANGING.clear()


CHANGING = []


def modules(rng):
    x = tenon.tensor([[4.0, 1.0], [2.0, 3.0]])
    check(tenon.linalg.inv(x).matmul(x).allclose(tenon.eye(2)), True)
    check(tenon.fft.rfft(tenon.ones(4)).real.tolist(), [4.0, 0.0, 0.0])
    check(tenon.nn.functional.relu(tenon.tensor([-1.0, 2.0])).tolist(), [0.0, 2.0])
    check(tenon.func.grad(lambda v: (v * v).sum())(ROW).tolist(), [2.0, 4.0, 6.0, 8.0])


TASKS = [operators, views, in_place, fused, fused_anew, fused_gradients, gradients, nodes, shared_leaf, custom_functions, hooks, cycles, texts,
         copies, errors, modes, draws, lists, modules]


def work(number, until, counts, failures):
    rng = random.Random(number)
    while time.monotonic() < until and not failures:
        for task in rng.sample(TASKS, len(TASKS)):
            try:
                task(rng)
            except BaseException:
                failures.append(f"{task.__name__}, thread {number}\n{traceback.format_exc()}")
                return
        counts[number] += 1


def main(seconds):
    faulthandler.enable()
    sys.setswitchinterval(1e-5)  # with a GIL
    counts, failures = [0] * THREADS, []
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=work, args=(number, until, counts, failures)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not failures:
        check(LEAF.grad.tolist(), [float(sum(counts))] * 3, "gradients of a leaf that all threads share")
        check(SHARED.tolist(), tenon.arange(12.0).reshape(3, 4).tolist(), "what no thread writes")
    with_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"{THREADS} threads {'with' if with_gil else 'without'} a GIL: {sum(counts)} rounds of {len(TASKS)} tasks, {len(failures)} failed")
    return "\n".join(failures) or None


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 2))
