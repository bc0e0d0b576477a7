"""Words and drawings that both pages share."""
