"""Sub-character tokenisation of Chinese: characters are spelt by sound or shape before pieces are cut."""
