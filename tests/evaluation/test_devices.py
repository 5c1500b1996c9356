"""The device of a transformers model: chosen by what the machine has, or named; a wrong one is one sentence."""

from __future__ import annotations

import pytest

from lapsus.evaluation.models.weights import choose_device

torch = pytest.importorskip("torch")


@pytest.fixture
def have(monkeypatch):
    def pretend(cuda=0, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return pretend


@pytest.mark.parametrize(
    ("machine", "device"),
    [({}, "cpu"), ({"mps": True}, "mps"), ({"cuda": 1}, "cuda"), ({"cuda": 1, "mps": True}, "cuda")],
)
def test_the_best_device_is_chosen_and_a_named_one_is_taken(machine, device, have):
    have(**machine)
    assert choose_device(torch, None) == device
    assert choose_device(torch, "cpu") == "cpu"


@pytest.mark.parametrize(
    ("machine", "device", "message"),
    [
        ({}, "cuda", "this machine has no device 'cuda'; use one of: cpu"),
        ({}, "mps", "this machine has no device 'mps'; use one of: cpu"),
        ({"cuda": 1}, "cuda:1", "this machine has no device 'cuda:1'; use one of: cuda, cpu"),
        ({"mps": True}, "gpu", "'gpu' is no device; use one of: mps, cpu"),
    ],
)
def test_a_wrong_device_is_one_sentence(machine, device, message, have):
    have(**machine)
    with pytest.raises(ValueError, match=message):
        choose_device(torch, device)
