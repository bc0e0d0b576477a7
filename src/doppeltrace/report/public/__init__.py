"""The public page: from the released file, allow-listed settings and the publisher's words."""
