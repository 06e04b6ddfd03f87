"""The protocol between API servers and webhooks: rules, AdmissionReviews, denials, ConversionReviews.

Pure, and the only copy: the embedded server calls webhooks with it, the runtime answers real servers with it, and
webhooks that are called directly are matched by the same rules.
"""
