"""Dialogs on a screen: read off it, answered by the words of an option, and walked through key by key. Pure."""
