"""What programs ask of Intel's GPUs before they use them: there are none here."""


def is_available():
    """False: Tenon computes on the CPU."""
    return False


def device_count():
    """0."""
    return 0
