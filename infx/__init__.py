"""The control plane for GPU benchmark sweeps on GitHub."""

__version__ = "0.1.0"
