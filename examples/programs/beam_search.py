"""Beam search for the likeliest sequence of a Markov chain of second order, against a search of all sequences."""

import itertools

import tenon as torch

BOS, EOS = 0, 1


def step_scores(tables, last):
    """log P(next | the two tokens before)"""
    return tables[last[:, 0], last[:, 1]]


def beam_search(tables, width, length):
    vocabulary = tables.shape[-1]
    tokens = torch.full((1, length + 2), BOS, dtype=torch.long)
    scores = torch.zeros(1)
    done = torch.zeros(1, dtype=torch.bool)
    for position in range(2, length + 2):
        log_p = step_scores(tables, tokens[:, position - 2 : position])
        only_eos = torch.full_like(log_p, -torch.inf)
        only_eos[:, EOS] = 0
        log_p = torch.where(done[:, None], only_eos, log_p)
        total = (scores[:, None] + log_p).flatten()
        scores, best = total.topk(min(width, int((total > -torch.inf).sum())))
        parent, token = torch.div(best, vocabulary, rounding_mode="floor"), best % vocabulary
        tokens = tokens[parent].clone()
        tokens[:, position] = token
        done = done[parent] | token.eq(EOS)
        if done.all():
            break
    return tokens, scores, done


def exhaustive(tables, length):
    best_score, best = float("-inf"), None
    for candidate in itertools.product(range(tables.shape[-1]), repeat=length):
        if EOS in candidate[:-1] and any(c != EOS for c in candidate[candidate.index(EOS) :]):
            continue
        row, score = [BOS, BOS, *candidate], 0.0
        for a, b, c in zip(row, row[1:], row[2:]):
            score += 0.0 if b == EOS else float(tables[a, b, c])
        if score > best_score:
            best_score, best = score, candidate
    return best, best_score


def main():
    torch.manual_seed(21)
    logits = torch.randn(5, 5, 5) * 1.5
    logits[..., BOS] = -torch.inf
    tables = torch.log_softmax(logits, dim=-1)
    results = {}
    for width in (1, 2, 8):
        tokens, scores, done = beam_search(tables, width, 5)
        results[f"scores{width}"] = scores
        results[f"tokens{width}"] = tokens
        print(f"width {width}: {tokens[0, 2:].tolist()} {scores[0].item():.4f} finished {done.sum().item()}/{len(done)}")
    best, score = exhaustive(tables, 5)
    print("best of all:", list(best), f"{score:.4f}")
    return {**results, "best": torch.tensor(score)}


if __name__ == "__main__":
    main()
