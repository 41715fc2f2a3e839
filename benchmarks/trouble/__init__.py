"""A provider in trouble: some rows it always answers with 500, and for a while it is dead.

What is measured is how fast the good rows come home all the same, beside a run that was given the
good rows alone.
"""
