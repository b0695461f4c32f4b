"""Multi-head self-attention with a causal mask, forward and backward."""

import math

import tenon as torch
import tenon.nn.functional as F


def attention(x, w_in, w_out, heads):
    batch, length, width = x.shape
    q, k, v = (x @ w_in).chunk(3, dim=-1)
    q, k, v = (part.view(batch, length, heads, width // heads).transpose(1, 2) for part in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(width // heads)
    mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
    weights = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
    mixed = torch.einsum("bhqk,bhkd->bqhd", weights, v).reshape(batch, length, width)
    return mixed @ w_out, weights


def main():
    torch.manual_seed(2)
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    w_in = (torch.randn(8, 24, dtype=torch.float64) / 8).requires_grad_()
    w_out = (torch.randn(8, 8, dtype=torch.float64) / 8).requires_grad_()
    out, weights = attention(x, w_in, w_out, heads=2)
    loss = F.mse_loss(out, x)
    loss.backward()
    q, k, v = (x @ w_in).detach().view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    print(f"loss {loss.item():.6f}; the first row attends to itself: {weights[0, 0, 0].tolist()}")
    return {"out": out, "w_in": w_in.grad, "w_out": w_out.grad, "fused": fused}


if __name__ == "__main__":
    main()
