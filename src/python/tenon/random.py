"""Random numbers: the default generator, and others as needed."""

from ._tenon import Generator, default_generator


def manual_seed(seed):
    """Seeds the default generator and returns it."""
    return default_generator.manual_seed(int(seed))


def get_rng_state():
    """The state of the default generator, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Restores a state that get_rng_state returned."""
    default_generator.set_state(new_state)


def seed():
    """Seeds the default generator with an unpredictable number, and returns it."""
    return default_generator.seed()


def initial_seed():
    """The seed of the default generator."""
    return default_generator.initial_seed()


def fork_rng(devices=None, enabled=True):
    """A context that leaves the default generator as it was before."""
    import contextlib  # slow to import

    return contextlib.contextmanager(_forked)(enabled)


def _forked(enabled):
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
