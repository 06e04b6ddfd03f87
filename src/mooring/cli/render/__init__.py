"""How answers are shown: as text for people, as JSON or YAML for programs."""
