"""A transformer block, forward and backward: layer norm, attention, GELU, dropout that is off."""

import tenon as torch
import tenon.nn.functional as F


def main():
    torch.manual_seed(13)
    width, length, batch = 16, 6, 3

    def weights(*shape):
        return (torch.randn(*shape, dtype=torch.float64) * 0.1).requires_grad_()

    embedding, position = weights(20, width), weights(length, width)
    w_qkv, w_out, w_up, w_down = weights(3 * width, width), weights(width, width), weights(4 * width, width), weights(width, 4 * width)
    gain, shift = torch.ones(width, dtype=torch.float64, requires_grad=True), torch.zeros(width, dtype=torch.float64, requires_grad=True)
    tokens = torch.randint(0, 20, (batch, length + 1))
    x = F.embedding(tokens[:, :-1], embedding) + position
    normed = F.layer_norm(x, (width,), gain, shift)
    q, k, v = F.linear(normed, w_qkv).split(width, dim=-1)
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + F.dropout(F.linear(attended, w_out), p=0.1, training=False)
    x = x + F.linear(F.gelu(F.linear(F.layer_norm(x, (width,)), w_up)), w_down)
    logits = F.linear(F.rms_norm(x, (width,)), embedding)
    loss = F.cross_entropy(logits.view(-1, 20), tokens[:, 1:].reshape(-1), label_smoothing=0.1)
    loss.backward()
    print(f"loss {loss.item():.6f}")
    return {"loss": loss, "logits": logits, "embedding": embedding.grad, "gain": gain.grad, "up": w_up.grad}


if __name__ == "__main__":
    main()
