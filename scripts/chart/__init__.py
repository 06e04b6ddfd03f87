"""The parts of charts/mooring that are made from declarations: definitions, access rules, names, and the schema."""
