"""The application: settings, wiring, processes, command line and HTTP API."""
