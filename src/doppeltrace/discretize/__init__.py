"""Where and when: from coordinates and times to locations, instants and slots."""
