"""What API servers and webhooks say to each other, and about what: rules, reviews, refusals, conversions.

Pure, and the one copy of it: the embedded server asks foreign webhooks in these words, the runtime answers real servers
in them, and webhooks that are called directly are matched by the same rules.
"""
