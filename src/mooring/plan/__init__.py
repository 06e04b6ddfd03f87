"""Plans: workloads applied to a simulated cluster in virtual time, run by Mooring's own controllers."""
