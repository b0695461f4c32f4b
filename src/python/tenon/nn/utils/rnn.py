"""Sequences of several lengths in one tensor.

https://pytorch.org/docs/stable/nn.html#utility-functions-in-other-modules
"""

from collections.abc import Iterable

import tenon

from ..._arguments import check_bool, check_elements

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences as one tensor: [longest, batch, ...], or with batch_first [batch, longest, ...]; shorter ones are padded."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    check_elements(sequences)
    check_bool("pad_sequence", batch_first, "batch_first", 2)
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(sequence.size(0) for sequence in sequences)
    rest = sequences[0].shape[1:]
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    result = tenon.full((*sizes, *rest), padding_value, dtype=sequences[0].dtype)
    for at, sequence in enumerate(sequences):
        length = sequence.size(0)
        row = result.select(0 if batch_first else 1, at)
        row.narrow(0, longest - length if padding_side == "left" else 0, length).copy_(sequence)
    return result


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of pad_sequence again."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    longest = tenon.arange(padded_sequences.size(1))
    return [sequence[longest < length] for sequence, length in zip(padded_sequences, lengths)]


def __getattr__(name):
    from ... import _missing

    _missing.refuse("nn.utils.rnn", name)
