import { type Addressing, BridgeError, type Envelope } from "@bridge/ports";

/** Returns a message's address, with the placeholders filled in. */
export type AddressOf = (envelope: Envelope) => string;

const PLACEHOLDER = /\{[^{}]+\}/g;
/** Suffix of a placeholder's name: the value may span levels. */
const SPANS = "...";
const SUBJECT = "$subject";

/** Placeholders that do not name a header. */
const PROPERTIES: ReadonlyMap<string, AddressOf> = new Map([
  ["$id", (envelope) => envelope.id],
  [SUBJECT, (envelope) => envelope.subject],
]);

/**
 * Compiles a binding's address. `{name}` stands for the header of that name, `{$subject}` and `{$id}` for the message's
 * own. The sender decides how to escape a value. A value must be one level of the address, except `{name...}` and
 * `{$subject}`, which may span several. The result throws `BINDING_UNRESOLVED` when a value is missing or spans levels
 * that it may not.
 */
export function compileAddress(template: string, addressing: Addressing | undefined): AddressOf {
  const parts: AddressOf[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const literal = template.slice(end, match.index);
    const before = template.slice(0, match.index);
    const written = match[0].slice(1, -1);
    const name = nameOf(written);
    const separator = name === written && name !== SUBJECT ? addressing?.separator : undefined;
    const read = PROPERTIES.get(name) ?? headerReader(name);
    parts.push((envelope) => {
      const value = read(envelope);
      if (separator !== undefined && value.includes(separator)) throw severalLevels(name, separator);
      return literal + (addressing === undefined ? value : addressing.fill(value, before));
    });
    end = match.index + match[0].length;
  }
  const rest = template.slice(end);
  if (parts.length === 0) return () => rest;
  return (envelope) => parts.map((part) => part(envelope)).join("") + rest;
}

/** The headers whose values become part of an address, in lower case. */
export function headersInAddress(template: string): readonly string[] {
  const names = Array.from(template.matchAll(PLACEHOLDER), ([placeholder]) => nameOf(placeholder.slice(1, -1)));
  return names.filter((name) => !PROPERTIES.has(name)).map((name) => name.toLowerCase());
}

function nameOf(written: string): string {
  return written.endsWith(SPANS) ? written.slice(0, -SPANS.length) : written;
}

function headerReader(name: string): AddressOf {
  const key = name.toLowerCase();
  return (envelope) => {
    const value = envelope.headers[key];
    if (value === undefined || value === "") {
      throw new BridgeError(
        "BINDING_UNRESOLVED",
        `the address needs the header "${key}", which the message does not have`,
      );
    }
    return value;
  };
}

function severalLevels(name: string, separator: string): BridgeError {
  return new BridgeError(
    "BINDING_UNRESOLVED",
    `the value for {${name}} holds "${separator}", which parts the levels of the address: write {${name}${SPANS}} if it may span them`,
  );
}
