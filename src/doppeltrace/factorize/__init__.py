"""Step (ii): factorize both tensors together by Gibbs sampling."""
