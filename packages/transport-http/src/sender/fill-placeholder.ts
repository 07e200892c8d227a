import { unresolved } from "./unresolved.ts";

const ORIGIN = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*)?/i;

/**
 * Writes a header's value into an address, percent-encoded, so that it is never more than one path segment or one part
 * of the query. `before` is the template's text up to the placeholder.
 *
 * @throws BridgeError `BINDING_UNRESOLVED` in the origin or a fragment, and for a path segment that would be empty or
 * a step to another one (`.`, `..`)
 */
export function fillPlaceholder(value: string, before: string): string {
  if (before.startsWith("//") || ORIGIN.exec(before)?.[0].length === before.length) {
    throw unresolved("a placeholder stands in the scheme, host or port of the address: write those out");
  }
  if (before.includes("#")) throw unresolved("a placeholder stands in a fragment, which is never sent: remove it");
  if (!before.includes("?")) checkSegment(value);
  try {
    return encodeURIComponent(value);
  } catch {
    throw unresolved("a header for a placeholder of the address is not well-formed Unicode");
  }
}

/** Also what lies behind an encoded slash, for there are servers that decode it before they look at the path. */
function checkSegment(value: string): void {
  if (value === "") throw unresolved("a header for a path segment of the address is empty");
  if (value.split(/[/\\]/).some((part) => part === "." || part === "..")) {
    throw unresolved("a header for a path segment of the address is . or .. or holds such a step");
  }
}
