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


def empty_cache():
    """Does nothing, as in PyTorch where there is no CUDA."""


def _refused(*args, **kwargs):
    """AssertionError, as in PyTorch without CUDA."""
    raise AssertionError("Torch not compiled with CUDA enabled")


synchronize = current_device = get_device_name = get_device_properties = _refused


def is_bf16_supported(including_emulation=True):
    """False: there is no CUDA."""
    return False


def max_memory_allocated(device=None):
    """0."""
    return 0


memory_allocated = memory_reserved = max_memory_reserved = max_memory_allocated
