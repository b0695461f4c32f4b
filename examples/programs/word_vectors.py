"""Word vectors by skip-gram with negative sampling, on sentences of a toy language."""

import tenon as torch
import tenon.nn.functional as F


def sentences(generator):
    """Words of one of three topics follow each other."""
    topics = torch.randint(0, 3, (40,), generator=generator)
    words = torch.randint(0, 5, (40, 8), generator=generator)
    return words + 5 * topics[:, None]


def pairs(text, window=2):
    centers, contexts = [], []
    length = text.size(1)
    for offset in range(-window, window + 1):
        if offset == 0:
            continue
        begin, end = max(0, -offset), min(length, length - offset)
        centers.append(text[:, begin:end].flatten())
        contexts.append(text[:, begin + offset : end + offset].flatten())
    return torch.cat(centers), torch.cat(contexts)


def main():
    torch.manual_seed(4)
    generator = torch.Generator().manual_seed(12)
    text = sentences(generator)
    center, context = pairs(text)
    counts = torch.bincount(text.flatten(), minlength=15).float()
    noise = counts.pow(0.75) / counts.pow(0.75).sum()
    inner = torch.randn(15, 6).mul_(0.1).requires_grad_()
    outer = torch.zeros(15, 6, requires_grad=True)
    optimizer = torch.optim.Adagrad([inner, outer], lr=0.5)
    for epoch in range(30):
        order = torch.randperm(center.numel())
        total = 0.0
        for batch in order.split(256):
            negatives = torch.multinomial(noise, batch.numel() * 4, replacement=True).view(-1, 4)
            v = F.embedding(center[batch], inner)
            positive = (v * F.embedding(context[batch], outer)).sum(dim=-1)
            negative = torch.einsum("bd,bnd->bn", v, F.embedding(negatives, outer))
            loss = -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(dim=-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1:2d}  loss {total / len(center):.4f}")
    with torch.no_grad():
        likeness = F.cosine_similarity(inner.unsqueeze(0), inner.unsqueeze(1), dim=-1)
        nearest = likeness.fill_diagonal_(float("-inf")).topk(4, dim=1).indices
        same_topic = (nearest // 5 == torch.arange(15).unsqueeze(1) // 5).float().mean()
    print("neighbours of the same topic:", round(same_topic.item(), 2))
    return {"inner": inner, "same_topic": same_topic}


if __name__ == "__main__":
    main()
