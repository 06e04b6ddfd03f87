"""Which of several node groups is to grow: each expander keeps the options that it likes best."""
