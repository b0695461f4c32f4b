"""Hooks of optimizers: functions called before and after a step, and before and after their dicts are made and taken."""

import collections
import functools
import itertools
import weakref


class RemovableHandle:
    """Takes a hook away again. Does nothing the second time, or when the optimizer is gone."""

    next_id = 0

    def __init__(self, hooks):
        self._hooks = weakref.ref(hooks)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self):
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def registered(hooks, hook, prepend=False):
    """Adds a hook behind the others, or before them."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


_before_all = collections.OrderedDict()
_after_all = collections.OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Calls hook(optimizer, args, kwargs) before each step of every optimizer. It may return other args and kwargs."""
    return registered(_before_all, hook)


def register_optimizer_step_post_hook(hook):
    """Calls hook(optimizer, args, kwargs) after each step of every optimizer."""
    return registered(_after_all, hook)


def hooked(step):
    """A method `step` that calls the hooks. As in PyTorch their args begin with the optimizer."""

    @functools.wraps(step)
    def with_hooks(*args, **kwargs):
        self = args[0]
        self._opt_called = True
        for hook in itertools.chain(_before_all.values(), self._hooks["step_pre"].values()):
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in itertools.chain(self._hooks["step_post"].values(), _after_all.values()):
            hook(self, args, kwargs)
        return result

    with_hooks.hooked = True
    return with_hooks


class Hooks:
    """The hooks of one optimizer. They are neither copied nor saved with it."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "step" in cls.__dict__ and not getattr(cls.step, "hooked", False):
            cls.step = hooked(cls.step)

    @property
    def _hooks(self):
        return self.__dict__.setdefault("_hooks_of_kinds", collections.defaultdict(collections.OrderedDict))

    def register_step_pre_hook(self, hook):
        """Calls hook(optimizer, args, kwargs) before each step. It may return other args and kwargs."""
        return registered(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook):
        """Calls hook(optimizer, args, kwargs) after each step."""
        return registered(self._hooks["step_post"], hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Calls hook(optimizer) before each state_dict."""
        return registered(self._hooks["state_dict_pre"], hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Calls hook(optimizer, state_dict) after each state_dict. It may return another one."""
        return registered(self._hooks["state_dict_post"], hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Calls hook(optimizer, state_dict) before each load_state_dict. It may return another one."""
        return registered(self._hooks["load_state_dict_pre"], hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Calls hook(optimizer) after each load_state_dict."""
        return registered(self._hooks["load_state_dict_post"], hook, prepend)

    def _changed_dict(self, kind, state_dict):
        for hook in self._hooks[kind].values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        return state_dict

    def _call_hooks(self, kind):
        for hook in self._hooks[kind].values():
            hook(self)
