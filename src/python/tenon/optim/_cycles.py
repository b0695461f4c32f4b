"""Learning rates that rise and fall, and several schedules as one."""

import bisect
import math
import types

from .. import Tensor
from .lr_scheduler import LRScheduler, ReduceLROnPlateau, _check_optimizer, _rates, _set_rate


def _one_per_group(name, optimizer, value):
    """A value for each group, or one for all. Tensors are copied: setting a rate writes to the optimizer's."""
    groups = len(optimizer.param_groups)
    values = value if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(values)} values, param_groups has {groups}."
        )
    return [each.clone() if isinstance(each, Tensor) else each for each in values]


class PolynomialLR(LRScheduler):
    """The rate times a power of the share of epochs that are left of total_iters."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_within_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return _rates(self.optimizer)
        now, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return self._times((now / before) ** self.power)

    def _get_closed_form_lr(self):
        return [rate * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half waves of a cosine down to eta_min: the first takes T_0 epochs, each next one T_mult times as many."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._check_within_step()
        share = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (rate - self.eta_min) * share / 2 for rate in self.base_lrs]

    def step(self, epoch=None):
        """Begins the next epoch, or a part of one: step(epoch + batch / batches)."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._find_wave(epoch)
        self._update_lr(math.floor(epoch))

    def _find_wave(self, epoch):
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            wave = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**wave - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**wave


class _WithMomentum(LRScheduler):
    """Momentum, or the first beta, that falls where the rate rises."""

    def _begin_momentum(self, optimizer, base_momentum, max_momentum, last_epoch):
        """Sets the first momenta. Gives the least and the largest ones of all groups."""
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        largest, least = _one_per_group("max_momentum", optimizer, max_momentum), _one_per_group("base_momentum", optimizer, base_momentum)
        if last_epoch == -1:
            for group, high, low in zip(optimizer.param_groups, largest, least):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return least, largest

    def _set_momentum(self, group, momentum):
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class OneCycleLR(_WithMomentum):
    """One rise from max_lr / div_factor to max_lr, then a fall far below the first rate, in a known number of steps."""

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos", cycle_momentum=True,
                 base_momentum=0.85, max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1):  # fmt: skip
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = self._steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = self._phases(float(pct_start * self.total_steps), three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = _one_per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, max_lrs):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _steps(total_steps, epochs, steps_per_epoch):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        given = {"total_steps": total_steps} if total_steps is not None else {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        for name, number in given.items():
            if number <= 0 or not isinstance(number, int):
                raise ValueError(f"Expected positive integer {name}, but got {number}")
        return math.prod(given.values())

    def _phases(self, rise, has_three):
        names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        up = (rise - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not has_three:
            phases = (up, (self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
        else:
            phases = (up, (2 * rise - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                      (self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))  # fmt: skip
        return [dict(zip(names, phase)) for phase in phases]

    def _between(self, start, end, share):
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self):
        self._check_within_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}")
        ends = [phase["end_step"] for phase in self._schedule_phases]
        at = min(bisect.bisect_left(ends, self.last_epoch), len(ends) - 1)
        phase, begin = self._schedule_phases[at], ends[at - 1] if at > 0 else 0.0
        share = (self.last_epoch - begin) / (ends[at] - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                self._set_momentum(group, self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], share))
        return rates


class CyclicLR(_WithMomentum):
    """Up from base_lr to max_lr in step_size_up steps, and down again, over and over."""

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0, scale_fn=None, scale_mode="cycle",
                 cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):  # fmt: skip
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _one_per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs):
                _set_rate(group, rate)
        self.max_lrs = _one_per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x):
        """How high a cycle, or a step, goes."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self):
        self._check_within_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._set_momentum(group, high - (high - low) * share * height)
        return [low + (high - low) * share * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        """Everything but the optimizer; of a function nothing, of an object that is called its attributes."""
        scale = self._scale_fn_custom
        saved = None if scale is None or isinstance(scale, types.FunctionType) else scale.__dict__.copy()
        return {**super().state_dict(), "_scale_fn_custom": saved}

    def load_state_dict(self, state_dict):
        """Takes what state_dict gave."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])


class _Several(LRScheduler):
    """Schedules of one optimizer."""

    def _check_schedulers(self, schedulers, optimizer, what):
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler{what}, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        for at, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {at} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified when calling `step`, "
                    f"but got one at index {at} in the given schedulers sequence."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler {type(scheduler).__name__} at index {at} has "
                    f"{scheduler.optimizer}, which is different from {type(optimizer).__name__}."
                )
        self._schedulers, self.optimizer = schedulers, optimizer

    def state_dict(self):
        """Everything but the optimizer, with the dicts of all schedules."""
        saved = {name: value for name, value in self.__dict__.items() if name not in ("optimizer", "_schedulers")}
        return {**saved, "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict):
        """Takes what state_dict gave."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for own, saved in zip(self._schedulers, state_dict["_schedulers"]):
            own.load_state_dict(saved)


class SequentialLR(_Several):
    """One schedule after the other: the next begins at each of the epochs milestones."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        self._check_schedulers(schedulers, optimizer, "")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but got number of "
                f"schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._milestones, self.last_epoch = milestones, last_epoch + 1
        for group in optimizer.param_groups:
            _set_rate(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect.bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched=None):
        """Takes back the step that each schedule made when it was created."""
        each = self if sched is None else sched
        if hasattr(each, "_schedulers"):
            for scheduler in each._schedulers:
                self.recursive_undo(scheduler)
        elif hasattr(each, "last_epoch"):
            each.last_epoch -= 1

    def step(self):
        """Begins the next epoch."""
        self.last_epoch += 1
        at = bisect.bisect_right(self._milestones, self.last_epoch)
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            self._schedulers[at]._update_lr(0)
        else:
            self._schedulers[at].step()
        self._last_lr = self._schedulers[at].get_last_lr()


class ChainedScheduler(_Several):
    """Schedules that all change the rate in each epoch."""

    def __init__(self, schedulers, optimizer=None):
        self._check_schedulers(schedulers, optimizer, " to be chained")
        self._last_lr = _rates(schedulers[-1].optimizer)

    def step(self):
        """Begins the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = _rates(self._schedulers[-1].optimizer)
