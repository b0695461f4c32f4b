"""PyTorch's place for what a thread records."""

from .._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
