const MAX_QUOTED = 80;

/** A text for a message: in quotes, in one line, and not long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}
