"""What is done with an item, and how the code for it is found."""
