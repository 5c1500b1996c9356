"""A person dictating English to a recogniser: hearing, what recognisers write, and the operator."""
