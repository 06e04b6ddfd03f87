"""`mooring notebook`: notebooks run and compared on this machine, and reports of jobs fetched from a cluster."""
