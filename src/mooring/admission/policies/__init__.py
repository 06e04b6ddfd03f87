"""ValidatingAdmissionPolicies: which requests they are about, and what they say of one."""
