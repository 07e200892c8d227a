import { ByteReader, Malformed } from "./byte-reader.ts";
import { bytesText } from "./field-text.ts";
import type { FieldTable } from "./field-value.ts";
import { readFieldTable } from "./read-field-table.ts";

/** Class and method in one number, as they are written. */
function id(classId: number, methodId: number): number {
  return classId * 0x1_0000 + methodId;
}

/** What a broker says. */
export const SAID = {
  start: id(10, 10),
  secure: id(10, 20),
  tune: id(10, 30),
  open: id(10, 41),
  close: id(10, 50),
  closeOk: id(10, 51),
  blocked: id(10, 60),
  unblocked: id(10, 61),
  channelOpen: id(20, 11),
  channelClose: id(20, 40),
  channelCloseOk: id(20, 41),
  declared: id(50, 11),
  qos: id(60, 11),
  consume: id(60, 21),
  cancel: id(60, 30),
  return: id(60, 50),
  deliver: id(60, 60),
  ack: id(60, 80),
  nack: id(60, 120),
  confirmSelect: id(85, 11),
} as const;

type Kind = "uint8" | "uint16" | "uint32" | "tag" | "bits" | "short" | "long" | "table";
type Argument = number | string | FieldTable;

const CLOSE: readonly Kind[] = ["uint16", "short", "uint16", "uint16"];
/** The arguments of each. */
const ARGUMENTS: ReadonlyMap<number, readonly Kind[]> = new Map<number, readonly Kind[]>([
  [SAID.start, ["uint8", "uint8", "table", "long", "long"]],
  [SAID.secure, ["long"]],
  [SAID.tune, ["uint16", "uint32", "uint16"]],
  [SAID.open, ["short"]],
  [SAID.close, CLOSE],
  [SAID.closeOk, []],
  [SAID.blocked, ["short"]],
  [SAID.unblocked, []],
  [SAID.channelOpen, ["long"]],
  [SAID.channelClose, CLOSE],
  [SAID.channelCloseOk, []],
  [SAID.declared, ["short", "uint32", "uint32"]],
  [SAID.qos, []],
  [SAID.consume, ["short"]],
  [SAID.cancel, ["short", "bits"]],
  [SAID.return, ["uint16", "short", "short", "short"]],
  [SAID.deliver, ["short", "tag", "bits", "short", "short"]],
  [SAID.ack, ["tag", "bits"]],
  [SAID.nack, ["tag", "bits"]],
  [SAID.confirmSelect, []],
]);

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(SAID).map(([name, of]) => [of, name]));

/** What a broker has said, read whole. */
export class Method {
  readonly id: number;
  readonly #arguments: readonly Argument[];

  /** @throws Malformed for a method that no broker has to say, and for one whose arguments are cut off or followed by more */
  constructor(payload: Buffer) {
    const from = new ByteReader(payload);
    const [classId, methodId] = [from.uint16(), from.uint16()];
    this.id = id(classId, methodId);
    const kinds = ARGUMENTS.get(this.id);
    if (kinds === undefined) throw new Malformed(`an unknown method (${classId}, ${methodId})`);
    try {
      this.#arguments = kinds.map((kind) => argumentOf(from, kind));
    } catch (error) {
      if (error instanceof Malformed) throw new Malformed(`${this.toString()}, which ${error.message}`);
      throw error;
    }
    if (from.left > 0) throw new Malformed(`${this.toString()}, which goes on for ${from.left} bytes after its end`);
  }

  number(index: number): number {
    return this.#arguments[index] as number;
  }

  text(index: number): string {
    return this.#arguments[index] as string;
  }

  toString(): string {
    return `the method "${NAMES.get(this.id)}"`;
  }
}

function argumentOf(from: ByteReader, kind: Kind): Argument {
  switch (kind) {
    case "uint8":
    case "bits":
      return from.uint8();
    case "uint16":
      return from.uint16();
    case "uint32":
      return from.uint32();
    case "tag":
      return from.count();
    case "short":
      return bytesText(from.text(from.uint8()));
    case "long":
      return bytesText(from.text(from.uint32()));
    case "table":
      return readFieldTable(from.part(from.uint32()));
    default:
      return kind satisfies never;
  }
}
