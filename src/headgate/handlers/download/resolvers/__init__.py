"""Resolvers: services that know where the files of a work are, each as two pure functions."""
