"""scaled_dot_product_attention: values, the order in memory, gradients, and what it refuses."""

import pytest

torch = pytest.importorskip("torch")

import tenon  # noqa: F401

from judge import same

# q [2, 3, 5, 4] and k, v [2, 3, 6, 4]; t* are laid out as [batch, length, heads, size]. A is the function.
CALLS = """
A(tq, tk, tv)
A(tq, k, v)
A(q, tk, tv)
A(tq, tk, tv, is_causal=True)
A(tq, tk, tv, scale=0.1)
A(tq, tk, tv, floats)
A(tq, tk, tv, floats > 0)
A(tq, tk, tv, floats > 5)
A(tq, tk, tv, floats.requires_grad_())
A(tq, tk, tv, m.ones(3, 5, 6))
A(tq, tk, tv, m.ones(2, 1, 1, 6))
A(tq, tk, tv[..., :3])
A(tq[0], tk[0], tv[0])
A(tq.double(), tk.double(), tv.double())
A(tq.half(), tk.half(), tv.half()).stride()
A(tq.clone().requires_grad_(), tk, tv)
A(m.ones(1, 3, 5, 4).expand(2, 3, 5, 4), k, v)
A(m.ones(2, 3, 10, 4)[:, :, ::2], k, v)
A(m.ones(2, 5, 6, 4).transpose(1, 2), tk, tv, enable_gqa=True)
A(m.ones(2, 6, 5, 4), k, v[:, :1], enable_gqa=True)
A(tq, tk, tv).transpose(1, 2).view(2, 5, 12)
A(q, k, v, floats > 0, is_causal=True)
A(q, k, v, floats, is_causal=True)
A(q[..., :0], k[..., :0], v)
A(q[0], k[0], v[0], floats > 0, is_causal=True)
A(q, k, v, floats.requires_grad_(), is_causal=True)
A(q, k, v, m.ones(6))
A(q[0], k[0], v[0], m.ones(6))
A(q, k, v, m.ones(4, 6))
A(q, k, v, m.ones(2, 5, 6))
A(q, k, v, m.ones(5, 6).double())
A(q, k, v, m.ones(5, 6).long())
A(q.double(), k, v)
A(q.long(), k.long(), v.long())
A(q > 0, k > 0, v > 0)
A(m.ones(4), m.ones(4), m.ones(4))
A(q, k[:, :2], v)
A(m.ones(2, 4, 5, 4), k, v, enable_gqa=True)
A(m.ones(5, 4), k[0, 0], v[0, 0], enable_gqa=True)
A(q, k, v, dropout_p=1.5)
A(q, k, v, None, 0.0, 1)
A(q, k, v, None, 0.0, False, None)
A([1.0], k, v)
A(q, k, None)
A(q, k, v, 3)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_call(call):
    def outcome(m):
        m.manual_seed(0)
        q, k, v = m.rand(2, 3, 5, 4), m.rand(2, 3, 6, 4), m.rand(2, 3, 6, 4)
        tq, tk, tv = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
        floats = m.linspace(-2, 3, 30).reshape(5, 6)
        return eval(call, {"m": m, "A": m.nn.functional.scaled_dot_product_attention}, locals())

    same(outcome, exact=False)


@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients(is_causal):
    def gradients(m):
        m.manual_seed(0)
        q, k, v = (m.rand(2, 5, 3, 4, dtype=m.float64).transpose(1, 2).requires_grad_() for _ in range(3))
        result = m.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        return [x.contiguous() for x in m.autograd.grad((result * result).sum(), [q, k, v])]

    same(gradients, exact=False)
