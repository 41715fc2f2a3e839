"""Parts of the reference that the program itself can tell."""
