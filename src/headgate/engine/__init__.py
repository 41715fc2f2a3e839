"""The engine: it decides when work runs, and knows neither how it is stored nor what is fetched."""
