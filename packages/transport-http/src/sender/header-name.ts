const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Whether HTTP can carry a header of this lower-case name (RFC 9110 §5.6.2). */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}
