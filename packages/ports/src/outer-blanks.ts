const [TAB, SPACE] = [0x09, 0x20];

/** A text without the spaces and tabs at its ends. An expression for it takes the square of those inside, too. */
export function withoutOuterBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === TAB;
}
