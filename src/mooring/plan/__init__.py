"""Plans: workloads carried out in memory and in virtual time, by the product's own controllers, until nothing moves."""
