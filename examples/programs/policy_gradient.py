"""REINFORCE with a baseline on a row of bandits whose best arm depends on the context."""

import collections

import tenon as torch
import tenon.nn.functional as F


def main():
    torch.manual_seed(11)
    contexts, arms = 4, 5
    payoff = torch.rand(contexts, arms)
    payoff[torch.arange(contexts), torch.tensor([1, 4, 0, 3])] = 1.5
    policy = torch.zeros(contexts, arms, requires_grad=True)
    value = torch.zeros(contexts, requires_grad=True)
    optimizer = torch.optim.Adam([{"params": [policy], "lr": 0.1}, {"params": [value], "lr": 0.2}])
    returns = collections.deque(maxlen=20)
    for step in range(150):
        state = torch.randint(contexts, (64,))
        log_probs = F.log_softmax(policy[state], dim=-1)
        action = torch.multinomial(log_probs.detach().exp(), num_samples=1, replacement=True).squeeze(1)
        reward = payoff[state, action] + 0.1 * torch.randn(64)
        baseline = value[state]
        advantage = (reward - baseline).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        chosen = log_probs.gather(1, action.unsqueeze(-1)).squeeze(-1)
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = -(chosen * advantage).mean() + F.smooth_l1_loss(baseline, reward) - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        returns.append(reward.mean().item())
        if step % 50 == 0:
            print("step {:3d} reward {:.3f} entropy {:.3f}".format(step, reward.mean().item(), entropy.item()))
    best = policy.softmax(-1).argmax(dim=-1)
    print("arms", best.tolist(), f"mean reward {sum(returns) / len(returns):.2f}")
    return {"policy": policy, "value": value, "best": best}


if __name__ == "__main__":
    main()
