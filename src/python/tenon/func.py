"""Functions of functions: derivatives as functions, and functions mapped over a dim.

https://pytorch.org/docs/stable/func.api.html
"""

import functools

from . import Tensor, autograd, enable_grad, stack, zeros_like

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp", "vmap"]


# --- Nested lists, tuples and dicts of tensors


def _map(function, *trees):
    """`function` of the corresponding leaves."""
    first = trees[0]
    if isinstance(first, dict):
        return {key: _map(function, *(tree[key] for tree in trees)) for key in first}
    if isinstance(first, (list, tuple)):
        mapped = [_map(function, *parts) for parts in zip(*trees)]
        return type(first)(*mapped) if hasattr(first, "_fields") else type(first)(mapped)
    return function(*trees)


def _leaves(tree):
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in _leaves(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in _leaves(value)]
    return [tree]


# --- Derivatives


def _tracked(value):
    """The same elements, to differentiate by: in the graph of `value` if it has one."""
    if not isinstance(value, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
    if not value.dtype.is_floating_point and not value.dtype.is_complex:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    return value.view_as(value) if value.requires_grad else value.detach().requires_grad_()


def _outside(result, inputs):
    """Takes results out of the graph, unless an input is in one outside."""
    if any(leaf.requires_grad for leaf in _leaves(inputs) if isinstance(leaf, Tensor)):
        return result
    return _map(lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf, result)


def _chosen(args, argnums):
    """(indices, whether one was asked for)"""
    if isinstance(argnums, int):
        indices = (argnums,)
    elif not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    elif not argnums:
        raise RuntimeError("argnums must be non-empty")
    else:
        indices = argnums
    if len(set(indices)) != len(indices):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    for index in indices:
        if not -len(args) <= index < len(args):
            raise RuntimeError(f"Got argnum={index}, but only {len(args)} positional inputs")
    return indices, isinstance(argnums, int)


def _gradients(output, inputs, weights=None):
    """The gradients of an output by the leaves of `inputs`; zeros where it does not depend on them."""
    leaves = _leaves(inputs)
    if output.requires_grad:
        found = autograd.grad(output, leaves, weights, create_graph=True, allow_unused=True)
    else:
        found = [None] * len(leaves)
    found = iter([zeros_like(leaf) if gradient is None else gradient for leaf, gradient in zip(leaves, found)])
    return _map(lambda leaf: next(found), inputs)


def _replaced(args, indices, values):
    args = list(args)
    for index, value in zip(indices, values):
        args[index] = value
    return args


def _called(func, args, kwargs, has_aux, where):
    """What func returns, and what it returns beside it; None without `has_aux`."""
    output = func(*args, **kwargs)
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(f"{where}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func` by its arguments `argnums`, and its value: a 0-dim tensor.

    With `has_aux`, func returns (value, anything), and the result is (gradient, (value, anything)).
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        indices, is_one = _chosen(args, argnums)
        given = [args[index] for index in indices]
        with enable_grad():
            inputs = _map(_tracked, given)
            output, aux = _called(func, _replaced(args, indices, inputs), kwargs, has_aux, "grad_and_value(f)(*args)")
            if not isinstance(output, Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. "
                                   "Maybe you wanted to use the vjp or jacrev APIs instead?")  # fmt: skip
            gradients = _gradients(output, inputs)
        gradients, output, aux = _outside((gradients, output, aux), given)
        gradients = gradients[0] if is_one else tuple(gradients)
        return (gradients, (output, aux)) if has_aux else (gradients, output)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, which returns a 0-dim tensor, by its arguments `argnums`.

    With `has_aux`, func returns (value, anything), and the result is (gradient, anything).
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        gradients, output = both(*args, **kwargs)
        return (gradients, output[1]) if has_aux else gradients

    return wrapper


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function that gives the gradients of the primals for a gradient of the result, or of each of its parts)."""
    with enable_grad():
        inputs = [_map(_tracked, primal) for primal in primals]
        output = func(*inputs)
    output, aux = output if has_aux else (output, None)

    def pull(cotangents):
        found = iter(_pulled(_leaves(output), _leaves(inputs), _leaves(cotangents)))
        return tuple(_outside(_map(lambda leaf: next(found), inputs), primals))

    value = _outside(output, primals)
    return (value, pull, aux) if has_aux else (value, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), the derivative in the direction of tangents).

    Computed backwards twice, so func must be differentiable twice; PyTorch computes it forwards.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if not primals:
        raise RuntimeError("jvp(f, primals, tangents): Expected f to have at least one positional argument")
    if not isinstance(tangents, tuple) or len(_leaves(list(primals))) != len(_leaves(list(tangents))):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have the same python structure.")
    with enable_grad():
        inputs = [_map(_tracked, primal) for primal in primals]
        output = func(*inputs)
        output, aux = output if has_aux else (output, None)
        for leaf in _leaves(aux) if has_aux else ():
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
        directions = list(map(_direction_of, _leaves(output)))
        pulled = _pulled(_leaves(output), _leaves(inputs), directions)
        derivative = _pulled(pulled, directions, _leaves(list(tangents)))
    found = iter(derivative)
    derivative = _map(lambda leaf: next(found), output)
    given = (primals, tangents)
    value, derivative, aux = _outside(output, given), _outside(derivative, given), _outside(aux, given)
    return (value, derivative, aux) if has_aux else (value, derivative)


def _direction_of(leaf):
    if not isinstance(leaf, Tensor):
        raise RuntimeError(f"jvp(f, primals, tangents): Expected f(*args) to return only tensors, got unsupported type {type(leaf)}")
    return zeros_like(leaf).detach().requires_grad_()


def _pulled(outputs, inputs, weights):
    """The gradients of several outputs together; zeros where there are none."""
    known = [(output, weight) for output, weight in zip(outputs, weights) if output.requires_grad]
    if not known:
        return [zeros_like(leaf) for leaf in inputs]
    found = autograd.grad([output for output, _ in known], inputs, [weight for _, weight in known], create_graph=True, allow_unused=True)
    return [zeros_like(leaf) if gradient is None else gradient for leaf, gradient in zip(inputs, found)]


def linearize(func, *primals):
    """(func(*primals), a function that gives its derivative in a direction)."""

    def derivative(*tangents):
        return jvp(func, primals, tangents)[1]

    return func(*primals), derivative


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """jacrev with the layout of PyTorch's, which goes forwards: the elements of the argument are the slowest in memory."""

    @functools.wraps(func)
    def wrapper(*args):
        return _jacobians(func, args, argnums, has_aux, _input_first, "jvp(f, primals, tangents)")

    return wrapper


def _input_first(jacobian, argument):
    count = argument.dim()
    outputs = jacobian.dim() - count
    turned = jacobian.permute(*range(outputs, outputs + count), *range(outputs)).contiguous()
    return turned.permute(*range(count, count + outputs), *range(count))


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the derivatives of `func` by its arguments `argnums`: [*sizes of the result, *sizes of the argument].

    Of a function with several results it gives those of each. With `has_aux`, func returns (value, anything), and the result is
    (derivatives, anything). `chunk_size` is accepted for PyTorch's sake.
    """

    @functools.wraps(func)
    def wrapper(*args):
        return _jacobians(func, args, argnums, has_aux, lambda jacobian, argument: jacobian, "vjp(f, *primals)")

    return wrapper


def _jacobians(func, args, argnums, has_aux, laid, where):
    """The derivatives of each result by each argument, laid out by a function of them and the argument."""
    indices, is_one = _chosen(args, argnums)
    given = [args[index] for index in indices]
    with enable_grad():
        inputs = _map(_tracked, given)
        output, aux = _called(func, _replaced(args, indices, inputs), {}, has_aux, where)

        def of(result):
            if not isinstance(result, Tensor):
                raise RuntimeError(f"{where}: expected f(*primals) to return only tensors, got unsupported type {type(result)}")
            rows = [_gradients(element, inputs) for element in result.reshape(-1)]
            found = _map(lambda leaf, *parts: stack(list(parts)).reshape((*result.shape, *leaf.shape)), inputs, *rows)
            found = _map(laid, found, inputs)
            return found[0] if is_one else tuple(found)

        jacobians = _map(of, output)
    jacobians, aux = _outside(jacobians, given), _outside(aux, given)
    return (jacobians, aux) if has_aux else jacobians


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


# --- vmap


def _spread(dims, tree, name, where):
    """`dims` for every leaf of `tree`: one for all, or nested as the tree is."""
    if dims is None or isinstance(dims, int):
        return _map(lambda leaf: dims, tree)
    if isinstance(tree, dict) and isinstance(dims, dict) and dims.keys() == tree.keys():
        return {key: _spread(dims[key], tree[key], name, where) for key in tree}
    if isinstance(tree, (list, tuple)) and isinstance(dims, (list, tuple)) and len(dims) == len(tree):
        return type(tree)(_spread(part, value, name, where) for part, value in zip(dims, tree))
    raise ValueError(f"{where}: {name} is not compatible with the structure of its tensors")


def _batch_size(leaves, dims, where):
    sizes = []
    for leaf, dim in zip(leaves, dims):
        if dim is None:
            continue
        if not isinstance(leaf, Tensor):
            raise ValueError(f"{where}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. "
                             "We cannot vmap over non-Tensor arguments, please use None as the respective in_dim")  # fmt: skip
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(f"{where}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} "
                             f"so expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}.")  # fmt: skip
        sizes.append(leaf.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls `func` for each index of a dim of its arguments and stacks the results along `out_dims`.

    in_dims: the dim of each argument, one for all, or None where an argument is the same in every call.
    Each index is a call, so that `func` may do whatever a function may; PyTorch makes one call and refuses some.
    `randomness` and `chunk_size` are accepted for PyTorch's sake.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
        if not (in_dims is None or isinstance(in_dims, (int, tuple, list))):
            raise ValueError(f"{where}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}.")
        if not args:
            raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with no inputs. "
                             "The latter is unsupported.")  # fmt: skip
        dims = _spread(in_dims, args, "in_dims", where)
        size = _batch_size(_leaves(args), _leaves(dims), where)

        def slice_of(index):
            return lambda leaf, dim: leaf if dim is None else leaf.select(dim, index)

        results = [func(*_map(slice_of(index), args, dims), **kwargs) for index in range(size)]
        if not results:
            raise ValueError(f"{where}: the mapped dimension has no elements, so the result has no known shape")
        for leaf in _leaves(results[0]):
            if not isinstance(leaf, Tensor):
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean to set out_dims= to None for output?")
        places = _spread(out_dims, results[0], "out_dims", where)
        return _map(lambda place, *parts: stack(list(parts), place), places, *results)

    return wrapper
