"""`download`: resolvers turn identifiers into plans, and plans become verified files."""
