"""Contracts: Protocols and the values that cross them."""
