"""What the training loops of the small models share: threads, batches of like length, schedules, the best epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random

import torch


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Compute on `count` threads; with one, sums are taken in the same order on every machine."""
    previous = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(previous)


def group_by_length(lengths: Sequence[int], size: int, rng: Random) -> list[list[int]]:
    """Return all places in batches of similar length, in random order: less padding halves the time.

    >>> sorted(map(sorted, group_by_length([90, 1, 91, 2], 2, Random(0))))
    [[0, 2], [1, 3]]
    """
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index] + 4 * rng.random(), index))
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    return sorted(batches, key=lambda _: rng.random())


def warmup_then_decay(optimizer: torch.optim.Optimizer, steps: int, warmup: float) -> torch.optim.lr_scheduler.LambdaLR:
    """Return a schedule that rises to the full rate over the share `warmup` of the steps, then falls to nearly 0."""
    warmup_steps = warmup * steps
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (warmup_steps + 1), 1.0) * (1 - step / (steps + 1))
    )


def warmup_constant(optimizer: torch.optim.Optimizer, warmup_steps: int) -> torch.optim.lr_scheduler.LambdaLR:
    """Return a schedule that rises to the full rate in `warmup_steps` steps, and keeps it."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup_steps))


def train_best_epoch(
    network: torch.nn.Module, epochs: int, train_epoch: Callable[[], None], count_correct: Callable[[], int]
) -> None:
    """Let a network learn for some epochs, and leave it with the weights of the best one, the later of two as good.

    Args:
        network: What learns.
        epochs: How often `train_epoch` is called.
        train_epoch: Reads all rows once, and changes the weights.
        count_correct: Counts the held-out rows that the network has right; without any, the last epoch is best.
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}: give how often all rows are read, 1 or more")
    most_correct, weights = -1, {}
    for _ in range(epochs):
        network.train()
        train_epoch()
        n_correct = count_correct()
        if n_correct >= most_correct:
            most_correct, weights = n_correct, {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(weights)
    network.eval()
