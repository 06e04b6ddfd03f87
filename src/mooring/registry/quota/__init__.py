"""ResourceQuotas: what the objects of a namespace use, and what more of them it takes."""
