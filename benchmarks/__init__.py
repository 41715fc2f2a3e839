"""The figures that Headgate promises, measured: `python -m benchmarks`."""
