"""The processes of an installation, and how they are started, supervised and stopped."""
