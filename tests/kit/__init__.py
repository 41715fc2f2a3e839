"""What tests are built from; `mypy --strict` checks it like the product."""
