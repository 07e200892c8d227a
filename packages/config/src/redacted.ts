/** Stands where a value must not be seen (spec 2.13). */
export const REDACTED = "[REDACTED]";
