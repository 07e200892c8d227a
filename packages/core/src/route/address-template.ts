import { type Addressing, BridgeError, type Envelope } from "@bridge/ports";

/** What a message's address is, once its placeholders are filled in. */
export type AddressOf = (envelope: Envelope) => string;

const PLACEHOLDER = /\{([^{}]+)\}/g;

/** Placeholders for what is not a header. */
const PROPERTIES: ReadonlyMap<string, AddressOf> = new Map([
  ["$id", (envelope) => envelope.id],
  ["$subject", (envelope) => envelope.subject],
]);

/**
 * Compiles a binding's address. `{name}` stands for the header of that name, `{$subject}` and `{$id}` for the message's
 * own; the sender decides how a value may stand there. The result throws `BINDING_UNRESOLVED` when one is missing.
 */
export function compileAddress(template: string, addressing: Addressing | undefined): AddressOf {
  const parts: AddressOf[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const literal = template.slice(end, match.index);
    const before = template.slice(0, match.index);
    const name = match[1] ?? "";
    const read = PROPERTIES.get(name) ?? headerReader(name);
    parts.push(
      (envelope) => literal + (addressing === undefined ? read(envelope) : addressing.fill(read(envelope), before)),
    );
    end = match.index + match[0].length;
  }
  const rest = template.slice(end);
  if (parts.length === 0) return () => rest;
  return (envelope) => parts.map((part) => part(envelope)).join("") + rest;
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
