"""Conway's Game of Life on a torus: a glider moves by one cell every four generations."""

import tenon as torch


def step(board):
    shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    neighbours = sum(torch.roll(board, shift, dims=(0, 1)) for shift in shifts)
    return ((neighbours == 3) | ((board == 1) & (neighbours == 2))).to(torch.uint8)


def main():
    board = torch.zeros(12, 12, dtype=torch.uint8)
    board[1:4, 1:4] = torch.tensor([[0, 1, 0], [0, 0, 1], [1, 1, 1]])
    glider = board.clone()
    for _ in range(4):
        board = step(board)
    assert torch.equal(board, glider.roll((1, 1), (0, 1)))
    for _ in range(20):
        board = step(board)
    for row in board:
        print("".join("#" if cell else "." for cell in row.tolist()))
    return {"board": board, "alive": board.sum(), "cells": board.nonzero(), "rows": torch.argwhere(board.any(dim=1))}


if __name__ == "__main__":
    main()
