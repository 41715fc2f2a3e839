"""Folders of files from one local nginx: the real command, and the programs that people use."""
