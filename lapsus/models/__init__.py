"""Small models that train here, and the client of a model behind an address."""
