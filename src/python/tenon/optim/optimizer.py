"""What all optimizers share: groups of parameters, states, and dicts of both."""

import collections
import copy
import itertools
import types
import warnings

from .. import Tensor, enable_grad, set_grad_enabled
from ._hooks import Hooks, hooked, register_optimizer_step_post_hook, register_optimizer_step_pre_hook

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]


def checked_rate(rate):
    """A learning rate: a number, or a tensor with one."""
    if isinstance(rate, Tensor) and rate.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not rate >= 0.0:
        raise ValueError(f"Invalid learning rate: {rate}")


def plain(number):
    """The number of a tensor of one element."""
    return number.item() if isinstance(number, Tensor) else number


def step_named_after(optimizer):
    """The shared step under the name that errors and profiles show for PyTorch's optimizers, which each have their own."""
    shared = Optimizer.step.__wrapped__
    own = types.FunctionType(shared.__code__, shared.__globals__, shared.__name__, shared.__defaults__)
    own.__doc__, own.__qualname__ = shared.__doc__, f"{optimizer.__qualname__}.step"
    return own


class Optimizer(Hooks):
    """The base of all optimizers. `defaults` holds the options of groups that do not name them.

    A subclass has `update(group, parameter)`, one step of one parameter that has a gradient.
    """

    _opt_called = False  # whether a step was made: schedulers warn if they step first

    def __init_subclass__(cls, **options):
        if "update" in cls.__dict__ and cls.step is Optimizer.step:
            cls.step = step_named_after(cls)
        super().__init_subclass__(**options)

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.FloatTensor")
        self.defaults = defaults
        self.state = collections.defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for number, group in enumerate(self.param_groups):
            lines += [""] * (number > 0) + [f"Parameter Group {number}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"

    def add_param_group(self, param_group):
        """Adds parameters with options of their own: {"params": tensors, "lr": 0.01, ...}."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                            "will change between runs. Please use a list instead.")  # fmt: skip
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [parameter[0] for parameter in params if isinstance(parameter, tuple)]
        params = [parameter[1] if isinstance(parameter, tuple) else parameter for parameter in params]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if names:
            param_group["param_names"] = names
        param_group["params"] = params
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(parameter).__name__}")
            if not self.defaults.get("differentiable") and not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        identities = {id(parameter) for parameter in params}
        if len(identities) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                          "see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)  # fmt: skip
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if names else "without names"
                raise ValueError(f"all optimizer param groups should be with/without names. cannot add param group {kind} to the optimizer")
            if not identities.isdisjoint(id(parameter) for parameter in group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients of all parameters, or sets them to 0."""
        for parameter in self._parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad = parameter.grad.detach()
                parameter.grad.zero_()

    @hooked
    def step(self, closure=None):
        """Moves all parameters that have a gradient. `closure` computes the loss again; its result is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self.update(group, parameter)
        return loss

    def state_dict(self):
        """The states and options, with numbers in the place of parameters."""
        self._call_hooks("state_dict_pre")
        numbers = {}
        for parameter in self._parameters():
            numbers.setdefault(id(parameter), len(numbers))
        groups = [{**{name: value for name, value in group.items() if name != "params"}, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        states = {numbers[id(parameter)]: state for parameter, state in self.state.items()}
        return self._changed_dict("state_dict_post", {"state": states, "param_groups": groups})

    def load_state_dict(self, state_dict):
        """Takes the states and options that state_dict gave."""
        state_dict = self._changed_dict("load_state_dict_pre", state_dict.copy())
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(own["params"]) for group, own in zip(saved, self.param_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        parameters = dict(zip(itertools.chain.from_iterable(group["params"] for group in saved), self._parameters()))
        state = collections.defaultdict(dict)
        for number, values in state_dict["state"].items():
            parameter = parameters[number]
            state[parameter] = {name: self._loaded(parameter, name, value) for name, value in values.items()}
        for group, own in zip(saved, self.param_groups):
            group["params"] = own["params"]
            if "param_names" in own:
                group.setdefault("param_names", own["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        self._call_hooks("load_state_dict_post")

    def _parameters(self):
        return [parameter for group in self.param_groups for parameter in group["params"]]

    @staticmethod
    def _loaded(parameter, name, value):
        """States have the parameter's dtype, but for the number of steps."""
        if not isinstance(value, Tensor):
            return value
        return value.to(parameter.dtype) if name != "step" and parameter.is_floating_point() else value
