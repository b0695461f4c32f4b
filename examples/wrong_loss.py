"""The mistake that trains models on nonsense: predictions (N, 1) against targets (N,) give (N, N) differences.

    python examples/wrong_loss.py
"""

import tenon


def loss(predicted, wanted):
    return (predicted - wanted).square().mean()


def main():
    wanted = tenon.arange(4.0)
    predicted = wanted.unsqueeze(1)  # a model's column of perfect predictions
    print("the loss of perfect predictions:", loss(predicted, wanted).item())
    with tenon.broadcast_policy(outer="raise"):
        try:
            loss(predicted, wanted)
        except RuntimeError as error:
            print(error, *getattr(error, "__notes__", []), sep="\n")
        print("once the shapes agree:", loss(predicted.squeeze(1), wanted).item())
    return loss(predicted, wanted).item(), loss(predicted.squeeze(1), wanted).item()


if __name__ == "__main__":
    main()
