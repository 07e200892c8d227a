/** @throws Error with words for an operator when the bytes are no text */
export function textOf(bytes: Uint8Array): string {
  try {
    return decoded(bytes);
  } catch {
    throw new Error(`it is not text in UTF-8${whyNot(bytes)}: save it as UTF-8`);
  }
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function whyNot(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return ", but in UTF-16";
  return `, as line ${lineOfFirstFault(bytes)} shows`;
}

const LINE_FEED = 0x0a;

/** No character of UTF-8 has a line feed in it. */
function lineOfFirstFault(bytes: Uint8Array): number {
  for (let line = 1, begin = 0; ; line++) {
    const end = bytes.indexOf(LINE_FEED, begin);
    try {
      decoded(bytes.subarray(begin, end < 0 ? bytes.length : end));
    } catch {
      return line;
    }
    if (end < 0) return line;
    begin = end + 1;
  }
}
