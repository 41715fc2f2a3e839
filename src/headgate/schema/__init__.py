"""The values that cross the wire: the API encodes, the client decodes, commands show them."""
