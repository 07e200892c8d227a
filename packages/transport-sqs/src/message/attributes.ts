import type { MessageAttributeValue } from "@aws-sdk/client-sqs";
import { BridgeError, TRACE_HEADERS } from "@bridge/ports";
import { ATTRIBUTES, isOwn } from "./names.ts";
import { carriedJson, isCarried } from "./text.ts";

type Header = readonly [name: string, value: string];

const MAX_ATTRIBUTES = 10;
const TRACED: ReadonlySet<string> = new Set(Object.values(TRACE_HEADERS));
const NAME = /^(?!aws\.|amazon\.|\.|.*\.\.)[\w.-]{1,256}(?<!\.)$/i;

/** The attributes of one message that goes out, at most ten. */
export class Attributes {
  readonly values: Record<string, MessageAttributeValue> = {};
  /** Bytes, as SQS counts them: of each its name, its type and its value. */
  size = 0;
  #count = 0;

  /** A part of the message itself; an empty one is left out. Identities are not altered to make them fit. */
  own(part: Exclude<keyof typeof ATTRIBUTES, "moreHeaders">, value: string): void {
    if (value === "") return;
    const name = ATTRIBUTES[part];
    if (!isCarried(value))
      throw new BridgeError("INVALID_PAYLOAD", `the ${name} has a character that SQS does not carry`);
    this.#add(name, value);
  }

  /** Headers have attributes of their own as long as there is room; the rest, and what SQS would refuse, share one of JSON. */
  headers(headers: Iterable<Header>): void {
    const fitting: Header[] = [];
    const packed: Header[] = [];
    for (const header of headers) {
      if (!fits(header)) packed.push(header);
      // Others look for a trace context in attributes of its own names.
      else if (TRACED.has(header[0])) fitting.unshift(header);
      else fitting.push(header);
    }
    const room = MAX_ATTRIBUTES - this.#count;
    const direct = packed.length === 0 && fitting.length <= room ? fitting.length : room - 1;
    for (const [name, value] of fitting.slice(0, direct)) this.#add(name, value);
    packed.push(...fitting.slice(direct));
    if (packed.length > 0) this.#add(ATTRIBUTES.moreHeaders, carriedJson(Object.fromEntries(packed)));
  }

  #add(name: string, StringValue: string): void {
    this.values[name] = { DataType: "String", StringValue };
    this.#count++;
    this.size += name.length + "String".length + Buffer.byteLength(StringValue);
  }
}

function fits([name, value]: Header): boolean {
  return NAME.test(name) && !isOwn(name) && name !== "__proto__" && isCarried(value);
}
