"""What the fence around an agent lets through: decided as values, without a look at any machine."""
