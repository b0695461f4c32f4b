"""Parameters: leaves of graphs that programs keep apart from other tensors."""

import tenon

__all__ = ["Parameter"]


class _ParameterType(type):
    def __instancecheck__(cls, object):
        return isinstance(object, tenon.Tensor) and getattr(object, "_is_param", False)


class Parameter(metaclass=_ParameterType):
    """A call gives a tensor over the memory of `data` that records what is done with it. It prints like any tensor."""

    def __new__(cls, data=None, requires_grad=True):
        made = tenon.empty(0) if data is None else data.detach()
        made.requires_grad_(requires_grad)
        made._is_param = True
        return made
