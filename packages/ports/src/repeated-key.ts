/**
 * The first key that an object of `json`, at any depth, has twice; `undefined` when there is none. `JSON.parse` would
 * take the last one without a word. `json` must be valid JSON. Linear in its length.
 */
export function repeatedKey(json: string): string | undefined {
  const open: (ObjectKeys | undefined)[] = [];
  let isKeyNext = false;
  for (let at = 0; at < json.length; at++) {
    switch (json.charAt(at)) {
      case "{":
        open.push(new ObjectKeys());
        isKeyNext = true;
        break;
      case "[":
        open.push(undefined);
        isKeyNext = false;
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        isKeyNext = open.at(-1) !== undefined;
        break;
      case '"': {
        const end = endOfString(json, at);
        if (isKeyNext) {
          const written = json.slice(at, end);
          const key = written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
          if (open.at(-1)?.has(key) === true) return key;
        }
        isKeyNext = false;
        at = end - 1;
        break;
      }
    }
  }
  return undefined;
}

/** Behind the quote that ends the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Makes a set for the second key only: there may be as many objects as a body has room for. */
class ObjectKeys {
  #first: string | undefined;
  #all: Set<string> | undefined;

  /** Whether `key` was there already; it is now. */
  has(key: string): boolean {
    if (this.#first === undefined) {
      this.#first = key;
      return false;
    }
    this.#all ??= new Set([this.#first]);
    const { size } = this.#all;
    return this.#all.add(key).size === size;
  }
}
