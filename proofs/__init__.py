"""proofs: the properties of the rulebooks and the prover that decides them."""
