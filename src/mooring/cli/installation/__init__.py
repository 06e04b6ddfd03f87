"""The commands that install and uninstall what providers of models need, and show how far it is."""
