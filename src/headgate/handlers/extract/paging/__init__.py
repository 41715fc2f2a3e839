"""How the pages of a listing are asked for: one module for each kind, one shape for all."""
