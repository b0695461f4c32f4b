"""Random functions of up to 60 ops in tenon.fuse: the bits, strides, errors, writes and gradients of eager calls.

Ops have mixed dtypes, broadcasts, views, reductions, scans, writes in place and products. Sums are of small whole numbers,
so that any order gives the same bits. Functions that fuse refuses must leave their arguments as they were."""

import functools
import warnings

import mutation
import tenon

UNARY = "neg abs exp tanh sqrt sigmoid floor round sign reciprocal square sin erf log1p isnan logical_not trunc relu frac rsqrt expm1".split()
BINARY = """add sub mul div maximum minimum pow remainder fmod floor_divide atan2 eq lt ge ne logical_and bitwise_xor hypot copysign
    fmin logaddexp bitwise_and""".split()
WRITES = "add_ mul_ sub_ div_ copy_ pow_ masked_fill_ lerp_ addcmul_ clamp_ fill_ neg_ exp_ zero_ relu_".split()
NUMBERS = (0, 1, 2, -1, 3, 0.5, -1.5, 2.25, True, 1e3, float("inf"), float("nan"), -0.0, 0.0, 1 / 3)
FLOATS = (tenon.float64, tenon.float16, tenon.bfloat16)
DTYPES = (tenon.float32,) * 5 + FLOATS + (tenon.int32, tenon.int64, tenon.uint8, tenon.int8, tenon.int16, tenon.bool, tenon.complex64)
SMALL = ((6, 5), (1, 5), (6, 1), (5,), (), (2, 6, 5), (6, 6), (0, 5), (5, 6), (2, 1, 5))
MEDIUM = ((130, 257), (1, 257), (130, 1), (257,), (), (3, 130, 257), (130, 130), (2, 1, 257))
LARGE = ((600, 1001), (1, 1001), (600, 1), (1001,), (), (2, 600, 1001))
KEPT = ("costly", "nothing", "everything")
REFUSED = "tenon.fuse: "  # how texts begin that eager calls do not have


def whole(a):
    """Whole numbers from -3 to 3: sums of a million products of two are exact in float32."""
    if a.is_complex():
        a = a.real
    if a.is_floating_point():
        return tenon.nan_to_num((a * 2).clamp(-3, 3).round(), 0, 1, -1)
    return a.to(tenon.int64)


def small(a):
    """The same of integers: beside floats they become floats."""
    return whole(a).clamp(-3, 3)


def draw_elementwise(random, dtypes=DTYPES):
    form = random.randrange(10)
    if form < 4:
        name = random.choice(UNARY)
        return lambda a, b, c: getattr(a, name)()
    if form < 7:
        name, number = random.choice(BINARY), random.choice((None, None, *NUMBERS[:3], random.choice(NUMBERS)))
        return lambda a, b, c: getattr(tenon, name)(a, b if number is None else number)
    if form == 7:
        dtype = random.choice(dtypes)
        return lambda a, b, c: a.to(dtype)
    low, high = random.choice(NUMBERS), random.choice(NUMBERS)
    calls = (lambda a, b, c: tenon.where(a, b, c), lambda a, b, c: a.clamp(low, high),
             lambda a, b, c: tenon.lerp(a, b, 0.3), lambda a, b, c: tenon.addcmul(a, b, c, value=low))  # fmt: skip
    return random.choice(calls)


def draw_view(random):
    x, y = random.randint(-3, 2), random.randint(-3, 2)
    shuffle = random.random()

    def permuted(a, b, c):
        return a.permute(sorted(range(a.dim()), key=lambda dim: (dim + 1) * shuffle % 0.3))

    calls = (lambda a, b, c: a.transpose(x, y), lambda a, b, c: a.unsqueeze(x), lambda a, b, c: a.squeeze(x), lambda a, b, c: a.select(x, 0),
             lambda a, b, c: a[1:], lambda a, b, c: a[..., ::2], lambda a, b, c: a.expand(2, *a.shape), lambda a, b, c: a.reshape(-1),
             lambda a, b, c: a.contiguous(), permuted, lambda a, b, c: a.expand_as(b), lambda a, b, c: a.flip(x),
             lambda a, b, c: a.narrow(x, 0, 1), lambda a, b, c: a.diagonal(0, x, -1))  # fmt: skip
    return random.choice(calls)


def draw_reduction(random):
    """Which of two zeros is the extreme depends on the order, so 0 is added."""
    x, keepdim = random.randint(-3, 2), random.random() < 0.5
    extreme, every = random.choice(("amax", "amin", "argmax", "argmin")), random.choice(("amax", "amin", "max", "min", "all", "any"))
    calls = (lambda a, b, c: getattr(a, extreme)(x, keepdim=keepdim) + 0, lambda a, b, c: getattr(a, every)() + 0, lambda a, b, c: whole(a).sum(),
             lambda a, b, c: whole(a).sum(x, keepdim=keepdim), lambda a, b, c: a.all(x, keepdim=keepdim), lambda a, b, c: a.any(x, keepdim=keepdim),
             lambda a, b, c: whole(a).cumsum(x), lambda a, b, c: a.cummax(x)[0], lambda a, b, c: a.sort(x, stable=True)[0],
             lambda a, b, c: a.max(x)[0] + 0, lambda a, b, c: a.count_nonzero(x), lambda a, b, c: (small(a) - small(b)).abs().sum(x),
             lambda a, b, c: (a - b).amax(x) + 0, lambda a, b, c: (small(a) * small(b)).sum((0, -1)))  # fmt: skip
    return random.choice(calls)


def draw_write(random):
    name, number, is_own, by_number = random.choice(WRITES), random.choice(NUMBERS), random.random() < 0.5, random.random() < 0.3
    into_out = random.random() < 0.2

    def write(a, b, c):
        to = a.clone() if is_own else a
        if into_out:
            return to if (b + c).shape != to.shape else tenon.add(b, c, out=to)
        if name in ("neg_", "exp_", "zero_", "relu_"):
            return getattr(to, name)()
        if name in ("clamp_", "fill_"):
            return to.clamp_(-1, number) if name == "clamp_" else to.fill_(number)
        if name in ("masked_fill_", "addcmul_", "lerp_"):
            return getattr(to, name)(b, {"masked_fill_": number, "addcmul_": c, "lerp_": 0.25}[name])
        return getattr(to, name)(number if by_number and name != "copy_" else b)

    return write


def draw_other(random):
    dim = random.randint(-2, 1)
    calls = (lambda a, b, c: tenon.cat([a, b], -1), lambda a, b, c: tenon.stack([a, b], 0), lambda a, b, c: a[[0, 0]],
             lambda a, b, c: whole(a).to(tenon.float64) @ whole(b).to(tenon.float64).transpose(-1, -2), lambda a, b, c: tenon.zeros_like(a) + a,
             lambda a, b, c: tenon.arange(a.shape[-1]) + a, lambda a, b, c: a.softmax(dim) > 0.5, lambda a, b, c: tenon.ones(a.shape).mul_(b))  # fmt: skip
    return random.choice(calls)


def draw_smooth(random):
    """What has derivatives of its own. Its sums have another order when it is fused."""
    functional = tenon.nn.functional
    calls = (lambda a, b, c: a @ b.transpose(-1, -2), lambda a, b, c: functional.softmax(a, -1), lambda a, b, c: functional.layer_norm(a, a.shape[-1:]),
             lambda a, b, c: a.var(-1, keepdim=True), lambda a, b, c: a.mean(0), lambda a, b, c: a.logsumexp(-1, keepdim=True))  # fmt: skip
    return random.choice(calls)


KINDS = ((draw_elementwise, 60), (draw_view, 12), (draw_reduction, 14), (draw_write, 8), (draw_other, 6))
# Narrow floats would round what sums of another order give.
SMOOTH_KINDS = ((functools.partial(draw_elementwise, dtypes=(tenon.float64, tenon.int64, tenon.bool)), 60), (draw_view, 12), (draw_reduction, 8), (draw_smooth, 20))


class Function:
    """Steps over the arguments and what earlier steps gave; some of that is the result."""

    def __init__(self, random, arguments, kinds, most_ops, most_elements):
        values, self.steps = copies(arguments), []
        fails, wanted = random.random() < 0.1, min(random.choice((3, 8, 20, 60)), most_ops)
        for _ in range(4 * wanted):
            if len(self.steps) == wanted:
                break
            kind = random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
            newest = max(0, len(values) - 6)  # mostly one of these, so that ops depend on each other
            step = kind(random), [random.randrange(0 if random.random() < 0.4 else newest, len(values)) for _ in range(3)]
            try:
                result = self.result_of(step, values)
            except (RuntimeError, TypeError, ValueError, IndexError, ZeroDivisionError):
                if fails and len(self.steps) >= wanted // 2:
                    self.steps.append(step)
                    break
                continue
            if result.numel() <= most_elements:
                self.steps.append(step)
                values.append(result)
        if not self.steps:
            self.steps.append((lambda a, b, c: a + 0, [0, 0, 0]))
        made = range(len(arguments), len(arguments) + len(self.steps))
        self.results = sorted(random.sample(made, min(len(made), random.randint(1, 3))))

    @staticmethod
    def result_of(step, values):
        call, places = step
        return call(*[values[place] for place in places])

    def __call__(self, *arguments):
        values = list(arguments)
        for step in self.steps:
            values.append(self.result_of(step, values))
        return tuple(values[place] for place in self.results)


def draw_argument(random, shapes):
    shape, dtype, layout = random.choice(shapes), random.choice(DTYPES), random.random()
    x = (tenon.rand(shape) * 6 - 2).to(dtype)
    if x.dim() >= 2 and layout < 0.2:
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    if x.dim() >= 1 and layout < 0.3:
        with_gaps = tenon.zeros(*shape[:-1], shape[-1] * 2, dtype=dtype)
        with_gaps[..., ::2] = x
        return with_gaps[..., ::2]
    return x[:1].expand(shape) if x.dim() >= 1 and layout < 0.35 else x


def copies(tensors):
    """Tensors of the same strides. Expanded ones stay: nothing can be written to them."""
    made = []
    for x in tensors:
        if x.numel() < 2 or 0 not in x.stride():
            extent = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, x.stride()))
            to = tenon.zeros(max(extent, 1), dtype=x.dtype).as_strided(x.shape, x.stride())
            x = to.copy_(x)
        made.append(x)
    return made


def difference(a, b):
    """What differs, NaN of any bits being equal; or nothing."""
    if (a.dtype, a.shape, a.stride()) != (b.dtype, b.shape, b.stride()):
        return f"{a.dtype} {tuple(a.shape)} {a.stride()} instead of {b.dtype} {tuple(b.shape)} {b.stride()}"
    if a.is_complex():
        return difference(tenon.view_as_real(a.resolve_conj().clone()), tenon.view_as_real(b.resolve_conj().clone()))
    same = a == b
    if a.is_floating_point():
        same = (same & (a.signbit() == b.signbit())) | ((a != a) & (b != b))
    return "" if same.all().item() else f"{(~same).sum().item()} elements of {a.dtype} {tuple(a.shape)}"


def outcome(function, arguments):
    """(results, error) of a call."""
    try:
        return function(*arguments), None
    except Exception as error:  # which ones, is compared
        return (), error


def assert_same(given, wanted, what):
    for i, (a, b) in enumerate(zip(given, wanted)):
        found = difference(a, b)
        assert not found, f"{what} {i}: {found}"


def check_bits(random):
    shapes, most_ops, most_elements = random.choices(((SMALL, 60, 60_000), (MEDIUM, 25, 3_000_000), (LARGE, 12, 3_000_000)), (80, 18, 2))[0]
    arguments = [draw_argument(random, shapes) for _ in range(random.randint(1, 4))]
    function = Function(random, arguments, KINDS, most_ops, most_elements)
    eager_arguments = copies(arguments)
    wanted, wanted_error = outcome(function, eager_arguments)
    fused = tenon.fuse(function)
    for call in ("the first call", "the second call"):
        given_arguments = copies(arguments)
        given, error = outcome(fused, given_arguments)
        if error is not None and str(error).startswith(REFUSED):
            return assert_same(given_arguments, arguments, "refused, argument")
        if "ZeroDivisionError" in repr(wanted_error) and error is None:
            return None  # integers are divided by 0 in what nothing reads
        assert (type(error), str(error)) == (type(wanted_error), str(wanted_error)), f"{call}: {error!r} instead of {wanted_error!r}"
        if error is None:
            assert_same(given, wanted, f"{call}, result")
        # A function that gives views of what it writes is called as it is: an error leaves what it had written.
        is_whole = error is not None and not any(map(difference, given_arguments, arguments))
        assert is_whole or assert_same(given_arguments, eager_arguments, f"{call}, argument") is None


def magnitude(tensors):
    """Of all finite elements."""
    return max((float(x.detach().to(tenon.complex128).abs().nan_to_num(0, 0, 0).max()) for x in tensors if x is not None and x.numel()), default=0.0)


def check_gradients(random):
    shapes = SMALL if random.random() < 0.8 else tuple(tuple(-(-size // 4) for size in shape) for shape in MEDIUM)
    arguments = [draw_argument(random, shapes) for _ in range(random.randint(1, 4))]
    arguments = [x.to(tenon.float64).requires_grad_() if x.is_floating_point() else x for x in arguments]
    leaves = [x for x in arguments if x.requires_grad]
    function = Function(random, [x.detach() for x in arguments], SMOOTH_KINDS, 20, 60_000)
    wanted, error = outcome(function, arguments)
    if error is not None or not leaves:
        return
    for keep in KEPT:
        given, error = outcome(tenon.fuse(function, keep=keep), arguments)
        if error is not None and str(error).startswith(REFUSED):
            return
        assert error is None, f"{error!r}, {keep}"
        for i, (a, b) in enumerate(zip(given, wanted)):
            assert (a.shape, a.stride(), a.dtype, a.requires_grad) == (b.shape, b.stride(), b.dtype, b.requires_grad), f"result {i}, {keep}"
            if not b.requires_grad or b.is_complex():
                continue
            seed = b.detach().cos()
            eager, error = outcome(lambda *x, of=b, by=seed: tenon.autograd.grad(of, x, by, retain_graph=True, allow_unused=True), leaves)
            if error is not None:
                continue
            fused = tenon.autograd.grad(a, leaves, seed, retain_graph=True, allow_unused=True)
            # Terms that cancel each other leave what they were rounded by.
            near = 1e-6 * (1 + magnitude(eager) + magnitude(wanted) + magnitude(leaves))
            for j, (x, y) in enumerate(zip(fused, eager)):
                assert (x is None) == (y is None), f"gradient {j} of result {i}, {keep}: {x} instead of {y}"
                close = x is None or (x.shape == y.shape and tenon.allclose(x, y, rtol=1e-5, atol=near, equal_nan=True))
                assert close, f"gradient {j} of result {i}, {keep}: {x} instead of {y}"


def check(random):
    tenon.manual_seed(random.getrandbits(32))
    tenon.set_num_threads(random.randint(1, 3))
    (check_bits if random.random() < 0.7 else check_gradients)(random)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    mutation.main(check)
