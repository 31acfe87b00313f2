"""Chat templates: upstream's text, ids that no user text can break, masks, prefixes."""
