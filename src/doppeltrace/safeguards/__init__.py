"""What is done to the input before any model sees it, so that nothing of one person leaves."""
