"""Small models that train on the local machine, and the client of an OpenAI-compatible endpoint."""
