"""Composition and faces: the only package that knows everybody."""
