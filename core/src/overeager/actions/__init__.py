"""From the members of a bundle to actions, and from actions to acts; pure."""
