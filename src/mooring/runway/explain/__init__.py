"""Where pods land, why not, and what would help: asked by `mooring explain`, `mooring plan` and the REST API alike."""
