"""What programs ask of CUDA before they use it: there is none."""


def is_available():
    """False: Tenon computes on the CPU."""
    return False


def device_count():
    """0."""
    return 0


def is_initialized():
    """False."""
    return False


def manual_seed(seed):
    """Does nothing, as in PyTorch where there is no CUDA."""


def manual_seed_all(seed):
    """Does nothing, as in PyTorch where there is no CUDA."""
