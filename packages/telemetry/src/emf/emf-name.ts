/** Words that CloudWatch's own metrics write in capitals, and so do we: `DLQRedriveFailures`. */
const ACRONYMS = new Set(["dlq", "tls"]);

/** `bridge_dlq_redrive_failures_total` as CloudWatch calls things: `DLQRedriveFailures`. The unit is no part of the name. */
export function emfName(name: string): string {
  return camel(name.replace(/^bridge_/, "").replace(/(?<=.)(?:_(?:seconds|bytes))?(?:_total)?$/, ""));
}

/** The name of a label as that of a dimension: `Route`. */
export function dimensionName(label: string): string {
  return camel(label);
}

function camel(words: string): string {
  return words
    .split("_")
    .map((word) => (ACRONYMS.has(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
}
