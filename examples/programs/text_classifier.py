"""Sentences of several lengths, padded and pooled: embeddings with a padding row, masks, class weights, RMSprop."""

import tenon as torch
import tenon.nn.functional as F
from tenon.nn.utils.rnn import pad_sequence

TEXTS = [
    ("a good film with a great story", 1), ("great cast and a good end", 1), ("i love this great film", 1), ("good story good cast", 1), ("what a love story", 1),
    ("a bad film with a weak story", 0), ("weak cast and a bad end", 0), ("i hate this weak film", 0), ("bad story", 0), ("what a bad bad end", 0), ("i hate this", 0),
]  # fmt: skip


def main():
    torch.manual_seed(23)
    vocabulary = {"<pad>": 0}
    for text, _ in TEXTS:
        for word in text.split():
            vocabulary.setdefault(word, len(vocabulary))
    ids = [torch.tensor([vocabulary[word] for word in text.split()]) for text, _ in TEXTS]
    labels = torch.tensor([label for _, label in TEXTS])
    lengths = torch.tensor([len(row) for row in ids])
    tokens = pad_sequence(ids, batch_first=True, padding_value=0)
    mask = torch.arange(tokens.size(1))[None, :] < lengths[:, None]
    assert torch.equal(mask, tokens.ne(0))
    embedding = torch.randn(len(vocabulary), 8)
    embedding[0] = 0
    embedding.requires_grad_(True)
    query = torch.randn(8, requires_grad=True)
    weight = torch.zeros(2, 8, requires_grad=True)
    counts = labels.bincount()
    class_weight = counts.sum() / (2.0 * counts)
    optimizer = torch.optim.RMSprop([embedding, query, weight], lr=0.02, alpha=0.9, centered=True)
    losses = []
    for step in range(60):
        e = F.embedding(tokens, embedding, padding_idx=0)
        scores = (e @ query).masked_fill(~mask, -1e9)
        attention = F.softmax(scores, dim=-1)
        pooled = torch.bmm(attention.unsqueeze(1), e).squeeze(1)
        logits = pooled @ weight.t()
        loss = F.cross_entropy(logits, labels, weight=class_weight)
        optimizer.zero_grad()
        loss.backward()
        assert embedding.grad[0].abs().max() == 0
        optimizer.step()
        losses.append(loss.detach())
    probabilities = logits.softmax(-1)[:, 1]
    order = probabilities.argsort(descending=True)
    ranked = labels[order].float()
    precision = ranked.cumsum(0) / torch.arange(1, len(ranked) + 1)
    average_precision = (precision * ranked).sum() / ranked.sum()
    focus = [TEXTS[i][0].split()[attention[i].argmax().item()] for i in range(4)]
    print("loss {:.3f} -> {:.3f}".format(losses[0], losses[-1]), "average precision %.2f" % average_precision, "words looked at:", *focus)
    return {"losses": torch.stack(losses), "embedding": embedding, "average_precision": average_precision, "attention": attention}


if __name__ == "__main__":
    main()
