"""Reading and writing rows: file formats and the places where files are."""
