"""Optimizers and clipping take PyTorch's steps, keep its states and raise its errors."""

import copy
import importlib
import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import tenon

from judge import same

CASES = [
    ("SGD", {}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    ("SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": True}), ("SGD", {"lr": 0.1, "weight_decay": 0.3}), ("SGD", {"lr": 0.01, "maximize": True}),
    ("Adam", {}), ("Adam", {"lr": 0.1, "betas": (0.5, 0.7)}), ("Adam", {"lr": 0.1, "amsgrad": True}), ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "maximize": True, "eps": 1e-3}), ("Adam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {"lr": 0.1}), ("AdamW", {"lr": 0.1, "weight_decay": 0.0, "amsgrad": True}),
    ("RMSprop", {}), ("RMSprop", {"lr": 0.1, "alpha": 0.5, "momentum": 0.9}), ("RMSprop", {"centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"centered": True, "momentum": 0.5, "maximize": True}), ("Adagrad", {}), ("Adagrad", {"lr": 0.5, "lr_decay": 0.1}),
    ("Adagrad", {"initial_accumulator_value": 0.2, "weight_decay": 0.1, "maximize": True}),
]  # fmt: skip


def parameters_of(m, dtype="float64"):
    m.manual_seed(4)
    return [m.randn(size, dtype=getattr(m, dtype)).requires_grad_() for size in ((3, 4), (5,), ())]


def loss_of(parameters):
    return sum((parameter.abs() ** 2 * (number + 1)).sum() + parameter.real.sum() for number, parameter in enumerate(parameters[:2]))


def trained(m, name, options, steps=6, dtype="float64", parameters=None, optimizer=None):
    parameters = parameters or parameters_of(m, dtype)
    optimizer = optimizer or getattr(m.optim, name)(parameters, **options)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(parameters)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return parameters, optimizer, losses


def lists(value):
    if isinstance(value, (torch.Tensor, tenon.Tensor)):
        return value.tolist()
    if isinstance(value, dict):
        return {key: lists(item) for key, item in value.items()}
    return [lists(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name, options", CASES, ids=str)
def test_steps(name, options, dtype):
    ours, theirs = trained(tenon, name, options, dtype=dtype), trained(torch, name, options, dtype=dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    assert ours[2] == pytest.approx(theirs[2], rel=tolerance)
    for a, b in zip(ours[0], theirs[0]):
        assert a.flatten().tolist() == pytest.approx(b.flatten().tolist(), rel=tolerance, abs=1e-7 if dtype == "float32" else 1e-14)
    assert repr(ours[1]) == repr(theirs[1])
    states = [each.state_dict() for each in (ours[1], theirs[1])]
    assert states[0]["param_groups"] == states[1]["param_groups"]
    assert {key: set(value) for key, value in states[0]["state"].items()} == {key: set(value) for key, value in states[1]["state"].items()}


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_complex_parameters(name):
    options = {"lr": 0.1}
    ours, theirs = trained(tenon, name, options, dtype="complex128"), trained(torch, name, options, dtype="complex128")
    assert ours[2] == pytest.approx(theirs[2], rel=1e-12)


@pytest.mark.parametrize("name, options", CASES[1::3], ids=str)
def test_a_loaded_state_goes_on(name, options):
    parameters, optimizer, _ = trained(tenon, name, options, steps=3)
    saved = copy.deepcopy(optimizer.state_dict())
    others = [parameter.detach().clone().requires_grad_() for parameter in parameters]
    other = getattr(tenon.optim, name)(others, lr=5.0)
    other.load_state_dict(saved)
    _, _, wanted = trained(tenon, name, options, 3, parameters=parameters, optimizer=optimizer)
    _, _, got = trained(tenon, name, options, 3, parameters=others, optimizer=other)
    assert got == wanted


def test_groups_have_options_of_their_own():
    def call(m):
        a, b, c = parameters_of(m)
        optimizer = m.optim.SGD([{"params": [a], "lr": 0.5}, {"params": b}], lr=0.1)
        optimizer.add_param_group({"params": c, "momentum": 0.9})
        for _ in range(3):
            optimizer.zero_grad(set_to_none=False)
            (a.sum() + b.sum() + c * 2).backward()
            optimizer.step()
        return a, b, c, [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]

    assert lists(call(tenon)) == lists(call(torch))


def test_a_closure_computes_the_loss():
    def call(m):
        x = m.tensor([2.0, -1.0], requires_grad=True)
        optimizer = m.optim.SGD([x], lr=0.25)

        def closure():
            optimizer.zero_grad()
            loss = (x * x).sum()
            loss.backward()
            return loss

        return optimizer.step(closure).item(), optimizer.step(closure).item(), x.tolist()

    assert call(tenon) == call(torch)


def test_parameters_without_a_gradient_stay():
    x, y = tenon.ones(2, requires_grad=True), tenon.ones(2, requires_grad=True)
    optimizer = tenon.optim.Adam([x, y])
    x.sum().backward()
    optimizer.step()
    assert y.tolist() == [1, 1] and x.tolist() != [1, 1] and list(optimizer.state) == [x]


@pytest.mark.parametrize("norm_type", [2.0, 1, float("inf"), 3.5])
@pytest.mark.parametrize("max_norm", [0.5, 100])
def test_clip_grad_norm(max_norm, norm_type):
    def call(m):
        parameters = parameters_of(m)
        loss_of(parameters).backward()
        total = m.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)
        return [total.item(), *parameters[0].grad.flatten().tolist(), *parameters[1].grad.tolist()]

    assert call(tenon) == pytest.approx(call(torch), rel=1e-13)


def test_clip_grad_value_and_vectors():
    def call(m):
        parameters = parameters_of(m)
        loss_of(parameters).backward()
        m.nn.utils.clip_grad_value_(iter(parameters), 0.75)
        vector = m.nn.utils.parameters_to_vector(parameters)
        m.nn.utils.vector_to_parameters(vector.detach() * 2, parameters)
        return [parameter.grad for parameter in parameters[:2]], vector, parameters

    assert lists(call(tenon)) == lists(call(torch))


def non_leaf(m):
    return m.ones(2, requires_grad=True) * 2


def infinite(m):
    x = m.ones(2, requires_grad=True)
    (x * float("inf")).sum().backward()
    m.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)


def twice(m):
    x = m.ones(2, requires_grad=True)
    m.optim.SGD([x]).add_param_group({"params": [x]})


ERRORS = {
    "tensor": lambda m: m.optim.SGD(m.ones(2)),
    "empty": lambda m: m.optim.SGD([]),
    "non-leaf": lambda m: m.optim.SGD([non_leaf(m)]),
    "negative rate": lambda m: m.optim.SGD([m.ones(1)], lr=-1),
    "negative momentum": lambda m: m.optim.SGD([m.ones(1)], momentum=-1),
    "negative decay": lambda m: m.optim.SGD([m.ones(1)], weight_decay=-1),
    "nesterov": lambda m: m.optim.SGD([m.ones(1)], nesterov=True),
    "beta": lambda m: m.optim.Adam([m.ones(1)], betas=(1.0, 0.9)),
    "eps": lambda m: m.optim.Adam([m.ones(1)], eps=-1),
    "wide rate": lambda m: m.optim.Adam([m.ones(1)], lr=m.ones(2)),
    "set": lambda m: m.optim.SGD([{"params": {m.ones(1)}}]),
    "group": lambda m: m.optim.SGD([m.ones(1)]).add_param_group([m.ones(1)]),
    "twice": twice,
    "infinite": infinite,
    "other groups": lambda m: m.optim.SGD([m.ones(1)]).load_state_dict({"state": {}, "param_groups": []}),
    "other sizes": lambda m: m.optim.SGD([m.ones(1)]).load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    same(ERRORS[name])


def test_duplicates_are_warned_of():
    x = tenon.ones(1)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        tenon.optim.SGD([x, x])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tenon.nn.utils.clip_grad_norm_((x for x in ()), 1.0)
    assert "empty generator" in str(caught[0].message)


# --- Schedulers

SCHEDULERS = [
    ("StepLR", {"step_size": 3}), ("StepLR", {"step_size": 2, "gamma": 0.5}), ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.3}),
    ("ConstantLR", {"factor": 0.5, "total_iters": 4}), ("LinearLR", {"start_factor": 0.25, "total_iters": 6}), ("LinearLR", {"end_factor": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}), ("CosineAnnealingLR", {"T_max": 4}), ("CosineAnnealingLR", {"T_max": 7, "eta_min": 0.01}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.95**epoch}), ("LambdaLR", {"lr_lambda": [lambda epoch: 1 / (epoch + 1), lambda epoch: 2.0]}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 1 - 0.01 * epoch}),
    ("PolynomialLR", {"total_iters": 20}), ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3}), ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.01}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 20}), ("OneCycleLR", {"max_lr": [0.5, 1.0], "epochs": 4, "steps_per_epoch": 5, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 13, "three_phase": True, "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2}), ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "step_size_down": 1, "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": [0.01, 0.02], "max_lr": 0.1, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9, "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2, "scale_fn": lambda x: 0.5**x, "scale_mode": "iterations"}),
]  # fmt: skip


def scheduled(m):
    a, b, _ = parameters_of(m)
    return m.optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b]}], lr=0.1)


@pytest.mark.parametrize("name, options", SCHEDULERS, ids=lambda value: value if isinstance(value, str) else "")
def test_scheduler(name, options):
    def call(m):
        optimizer = scheduled(m)
        scheduler = getattr(m.optim.lr_scheduler, name)(optimizer, **options)
        rates = [scheduler.get_last_lr()]
        for _ in range(12):
            optimizer.step()
            scheduler.step()
            rates.append([group["lr"] for group in optimizer.param_groups])
        saved = scheduler.state_dict()
        names = sorted(saved)  # PyTorch's CyclicLR takes one out when it loads
        other = getattr(m.optim.lr_scheduler, name)(scheduled(m), **options)
        other.load_state_dict(saved)
        other.optimizer.load_state_dict(optimizer.state_dict())
        other.optimizer.step()
        other.step()
        return rates, other.get_last_lr(), scheduler.last_epoch, names, sorted(optimizer.state_dict()["param_groups"][0])

    assert call(tenon) == call(torch)


@pytest.mark.parametrize("make", [
    lambda m, L, o, rates: L.CyclicLR(o, rates[0], 1.0, step_size_up=4), lambda m, L, o, rates: L.CyclicLR(o, rates, rates, step_size_up=3),
    lambda m, L, o, rates: L.CyclicLR(o, 0.1, rates, step_size_up=3, base_momentum=rates, max_momentum=rates),
    lambda m, L, o, rates: L.OneCycleLR(o, rates, 9), lambda m, L, o, rates: L.OneCycleLR(o, rates[0], 9, base_momentum=rates),
])  # fmt: skip
def test_cycles_keep_nothing_of_the_caller(make):
    def call(m):
        rates = [m.tensor(0.1, dtype=m.float64), m.tensor(0.3, dtype=m.float64)]
        a, b, _ = parameters_of(m)
        optimizer = m.optim.SGD([{"params": [a], "lr": rates[0]}, {"params": [b]}], lr=rates[1], momentum=0.5)
        scheduler = make(m, m.optim.lr_scheduler, optimizer, rates)
        seen = []
        for _ in range(6):
            optimizer.step()
            scheduler.step()
            rates[1:] = [9.0]
            groups = optimizer.param_groups
            seen += [[float(group["lr"]) for group in groups], float(rates[0]), float(groups[1]["momentum"])]
        return seen

    assert str(call(tenon)) == str(call(torch))


@pytest.mark.parametrize("make", [
    lambda L, o: L.OneCycleLR(o, [0.1], 5, last_epoch=0), lambda L, o: L.CyclicLR(o, [0.1], 0.2, last_epoch=0),
    lambda L, o: L.CyclicLR(o, 0.1, [0.2], last_epoch=0),
    lambda L, o: L.OneCycleLR(o, 0.1, 5, base_momentum=(0.1,), last_epoch=0), lambda L, o: L.OneCycleLR(o, 0.1, 5, last_epoch=0),
])  # fmt: skip
def test_cycles_check_lengths_when_they_resume(make):
    def call(m):
        a, b, _ = parameters_of(m)
        return make(m.optim.lr_scheduler, m.optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1, momentum=0.5))

    errors = []
    for m in (tenon, torch):
        with pytest.raises((ValueError, KeyError)) as error:
            call(m)
        errors.append((error.type, str(error.value)))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("make", [
    lambda L, o: L.SequentialLR(o, [L.LinearLR(o, 0.1, total_iters=3), L.ExponentialLR(o, 0.5)], milestones=[3]),
    lambda L, o: L.SequentialLR(o, [L.ConstantLR(o, 0.1, 2), L.StepLR(o, 2), L.CosineAnnealingLR(o, 4)], [2, 5]),
    lambda L, o: L.SequentialLR(o, [L.ChainedScheduler([L.ConstantLR(o, 0.5, 2), L.StepLR(o, 1)]), L.StepLR(o, 2)], [0]),
    lambda L, o: L.ChainedScheduler([L.ConstantLR(o, 0.5, 2), L.ExponentialLR(o, 0.9)], optimizer=o),
    lambda L, o: L.SequentialLR(o, [], []), lambda L, o: L.SequentialLR(o, [L.StepLR(o, 1)], [2]), lambda L, o: L.SequentialLR(o, [o], []),
    lambda L, o: L.ChainedScheduler([]), lambda L, o: L.ChainedScheduler([L.StepLR(o, 1), L.ReduceLROnPlateau(o)]),
    lambda L, o: L.OneCycleLR(o, 0.1), lambda L, o: L.OneCycleLR(o, 0.1, -1), lambda L, o: L.OneCycleLR(o, 0.1, 5, pct_start=2),
    lambda L, o: L.OneCycleLR(o, [0.1], 5), lambda L, o: L.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=2), lambda L, o: L.OneCycleLR(o, 0.1, 5, anneal_strategy="x"),
    lambda L, o: L.OneCycleLR(o, 0.1, 4), lambda L, o: L.CyclicLR(o, 0.1, 0.2, mode="x"), lambda L, o: L.CosineAnnealingWarmRestarts(o, 0),
    lambda L, o: L.CosineAnnealingWarmRestarts(o, 1, 0), lambda L, o: L.CosineAnnealingWarmRestarts(o, 1, 1, "x"),
])  # fmt: skip
def test_several_schedules_and_mistakes(make):
    def call(m):
        optimizer = scheduled(m)
        scheduler = make(m.optim.lr_scheduler, optimizer)
        rates = [scheduler.get_last_lr()]
        for _ in range(7):
            optimizer.step()
            scheduler.step()
            rates.append(scheduler.get_last_lr())
        other = make(m.optim.lr_scheduler, scheduled(m))
        other.load_state_dict(scheduler.state_dict())
        return [*rates, sorted(scheduler.state_dict()), other.get_last_lr()]

    same(call)


@pytest.mark.parametrize("epochs", [[0.5, 1, 1.5, 4.25], [7, 2, 0], [-1]], ids=str)
@pytest.mark.parametrize("factor", [1, 3])
def test_restarts_within_epochs(factor, epochs):
    def call(m):
        optimizer = scheduled(m)
        scheduler = m.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, factor)
        return [(scheduler.step(epoch), scheduler.get_last_lr(), scheduler.last_epoch)[1:] for epoch in epochs]

    same(call)


@pytest.mark.parametrize("options", [{}, {"mode": "max", "threshold_mode": "abs", "threshold": 0.5}, {"patience": 1, "cooldown": 2, "factor": 0.5, "min_lr": [0.2, 0.01]}], ids=str)
def test_rates_fall_on_a_plateau(options):
    def call(m):
        optimizer = scheduled(m)
        scheduler = m.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **{"patience": 2, **options})
        rates = []
        for metric in [3.0, 2.5, 2.5, 2.6, 2.4999, 2.7, 2.5, 3.0, m.tensor(3.5), 3.4, 3.0, 3.0, 2.9, 2.8]:
            scheduler.step(metric)
            rates.append(scheduler.get_last_lr())
        return rates, scheduler.num_bad_epochs, scheduler.best

    assert call(tenon) == call(torch)


@pytest.mark.parametrize("call", [
    lambda m: m.optim.lr_scheduler.StepLR(5, 1),
    lambda m: m.optim.lr_scheduler.StepLR(scheduled(m), 1, last_epoch=3),
    lambda m: m.optim.lr_scheduler.LambdaLR(scheduled(m), [lambda epoch: 1]),
    lambda m: m.optim.lr_scheduler.MultiplicativeLR(scheduled(m), 3),
    lambda m: m.optim.lr_scheduler.ConstantLR(scheduled(m), factor=2),
    lambda m: m.optim.lr_scheduler.LinearLR(scheduled(m), start_factor=0),
    lambda m: m.optim.lr_scheduler.ReduceLROnPlateau(scheduled(m), factor=1.0),
    lambda m: m.optim.lr_scheduler.ReduceLROnPlateau(scheduled(m), mode="x"),
    lambda m: m.optim.lr_scheduler.ReduceLROnPlateau(scheduled(m), min_lr=[1]),
    lambda m: (scheduler := m.optim.lr_scheduler.ExponentialLR(scheduled(m), 0.5), scheduler.step(), scheduler.step())[1:],
    lambda m: (scheduler := m.optim.lr_scheduler.ExponentialLR(scheduled(m), 0.5), scheduler.step(5), scheduler.get_last_lr())[1:],
    lambda m: m.optim.lr_scheduler.StepLR(scheduled(m), 2).get_lr(),
    lambda m: m.optim.RMSprop([m.ones(2)], momentum=-1.0), lambda m: m.optim.RMSprop([m.ones(2)], eps=-1.0), lambda m: m.optim.RMSprop([m.ones(2)], alpha=-1.0),
    lambda m: m.optim.Adagrad([m.ones(2)], lr_decay=-1.0), lambda m: m.optim.Adagrad([m.ones(2)], eps=-1.0), lambda m: m.optim.Adagrad([m.ones(2)], lr=-1.0),
    lambda m: m.optim.Adagrad([m.ones(2)], initial_accumulator_value=-1.0),
])  # fmt: skip
def test_mistakes_of_schedulers(call):
    same(lambda m: [None for _ in [call(m)]])


def test_repr_of_groups():
    def call(m):
        x, y = m.ones(2, requires_grad=True), m.ones(2, requires_grad=True)
        return [repr(m.optim.SGD([{"params": [x]}, {"params": y, "lr": 0.5}], lr=0.1)), repr(m.optim.SGD([x], lr=0.1))]

    assert call(tenon) == call(torch)


def test_hooks_of_steps_and_states():
    def call(m):
        common = importlib.import_module(m.__name__ + ".optim.optimizer")
        weight = m.ones(3, requires_grad=True)
        optimizer = m.optim.SGD([weight], lr=0.1)
        log = []
        before = optimizer.register_step_pre_hook(lambda own, args, kwargs: log.append(("before", own is optimizer, len(args), sorted(kwargs))))
        optimizer.register_step_post_hook(lambda own, args, kwargs: log.append(("after", len(args), sorted(kwargs))))
        everywhere = [common.register_optimizer_step_pre_hook(lambda *_: log.append("before all")),
                      common.register_optimizer_step_post_hook(lambda *_: log.append("after all"))]  # fmt: skip
        weight.sum().backward()
        optimizer.step()
        log.append(optimizer.step(closure=lambda: 5))
        for handle in (before, before, *everywhere):
            handle.remove()
        optimizer.step()
        with optimizer.register_step_pre_hook(lambda *_: log.append("once")):
            optimizer.step()
        optimizer.register_state_dict_pre_hook(lambda own: log.append("saves"))
        optimizer.register_state_dict_post_hook(lambda own, state: {**state, "more": 1})
        optimizer.register_load_state_dict_pre_hook(lambda own, state: log.append(sorted(state)))
        optimizer.register_load_state_dict_pre_hook(lambda own, state: log.append("first"), prepend=True)
        optimizer.register_load_state_dict_post_hook(lambda own: log.append("loaded"))
        optimizer.load_state_dict(optimizer.state_dict())
        copy.deepcopy(optimizer).step()
        return log, weight.tolist()

    assert call(tenon) == call(torch)


def test_hooks_change_the_arguments_of_a_step():
    def call(m):
        class Noted(m.optim.Optimizer):
            def __init__(self, params):
                super().__init__(params, {})

            def step(self, closure=None):
                return closure

        optimizer = Noted([m.ones(2)])
        optimizer.register_step_pre_hook(lambda own, args, kwargs: ((own, 7), {}))
        log = [optimizer.step()]
        optimizer.register_step_pre_hook(lambda *_: 3)
        with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3\.$"):
            optimizer.step()
        return log

    assert call(tenon) == call(torch) == [7]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop"])
@pytest.mark.parametrize("derived", [False, True])
def test_error_of_a_hook_names_the_step(name, derived):
    def call(m):
        optimizer = getattr(m.optim, name)
        kind = type("Mine", (optimizer,), {}) if derived else optimizer
        stepping = kind([m.ones(2, requires_grad=True)])
        stepping.register_step_pre_hook(lambda *_: 3)
        with pytest.raises(RuntimeError) as caught:
            stepping.step()
        return re.sub("0x[0-9a-f]+", "", str(caught.value)), kind.step.__qualname__

    assert call(tenon) == call(torch)


@pytest.mark.parametrize("calls", [[], ["optimizer"]], ids=str)
def test_order_of_steps_of_an_own_optimizer(calls):
    def call(m):
        class Own(m.optim.Optimizer):
            def step(self, closure=None):
                pass

        optimizer = Own([m.ones(2)], {"lr": 0.1})
        scheduler = m.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        for _ in calls:
            optimizer.step()
        scheduler.step()

    same(call)
