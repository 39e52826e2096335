"""avalon_logic: the games of the Resistance family, as rulebooks, and what people do with them."""
