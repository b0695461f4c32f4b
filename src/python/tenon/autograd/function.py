"""Custom functions with their own derivatives."""

import functools
import inspect

from .. import _tenon
from .._grad_mode import no_grad
from .._tenon import Tensor


class FunctionCtx(_tenon._FunctionContext):
    """What forward and backward share: any attribute, and tensors by save_for_backward."""

    to_save = None
    dirty_tensors = None
    non_differentiable = None
    materialize_grads = True
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keeps inputs and outputs for backward, which finds them in saved_tensors. Attributes would keep outputs alive."""
        self.to_save = tensors

    def mark_dirty(self, *args):
        """Says which inputs forward changed in place; it returns them."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """Says which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """False: backward sees None for a gradient that nobody asked for, not zeros."""
        self.materialize_grads = value


class _Recorded(FunctionCtx):
    """The context of one call, and the node of its outputs."""

    _function = None

    def _forward(self, *args):
        function = self._function
        if function.setup_context is Function.setup_context:
            return function.forward(self, *args)
        output = function.forward(*args)
        function.setup_context(self, args, output)
        return output

    def _backward(self, *grads):
        function = self._function
        own = [name for name in ("backward", "vjp") if getattr(function, name) is not getattr(Function, name)]
        if len(own) == 2:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
            )
        return getattr(function, own[0] if own else "backward")(self, *grads)


class _Class(type):
    """Gives every function the class of its contexts, which has the name of its node."""

    def __init__(cls, name, bases, attributes):
        super().__init__(name, bases, attributes)
        cls._context = type(name + "Backward", (_Recorded,), {"_function": cls, "__module__": __name__})


class Function(metaclass=_Class):
    """Base of functions with a derivative of their own:

    >>> import tenon
    >>> class Cube(tenon.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * grad
    >>> x = tenon.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x)
    tensor(8., grad_fn=<CubeBackward>)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    @staticmethod
    def forward(*args, **kwargs):
        """forward(ctx, *args) runs unrecorded; without ctx where setup_context is given."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Tells the context what backward needs."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the arguments, one each; None for those that need none."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args, **kwargs):
        """Calls forward and records the call."""
        if kwargs:
            args = cls._positional(args, kwargs)
        return _tenon._apply_function(cls._context(), args)

    @classmethod
    def _positional(cls, args, kwargs):
        has_context = cls.setup_context is Function.setup_context
        bound = inspect.signature(cls.forward).bind(*((None,) if has_context else ()), *args, **kwargs)
        bound.apply_defaults()
        return bound.args[1:] if has_context else bound.args


class _Once(Function):
    """Passes tensors on; they cannot be differentiated."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(fn):
    """For a backward whose result cannot be differentiated again: trying it is an error."""

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = fn(ctx, *args)
        if not _tenon.is_grad_enabled() or not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
            return outputs
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        tensors = [output.detach().requires_grad_() for output in listed if isinstance(output, Tensor)]
        marked = iter(_Once.apply(*tensors))
        return tuple(next(marked) if isinstance(output, Tensor) else output for output in listed)

    return wrapper
