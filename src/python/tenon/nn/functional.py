"""The functions of torch.nn.functional that exist here."""

__all__ = []
