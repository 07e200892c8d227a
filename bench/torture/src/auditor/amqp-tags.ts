import { METHOD, type Method } from "./amqp-frames.ts";

/** The flag that speaks for all older tags too. */
const MULTIPLE = 0b1;
/** Of `basic.ack`, `basic.nack` and `basic.reject`: the flags come behind the tag. */
const FLAGS_AT = 8;
const ANSWERS: ReadonlySet<number> = new Set([METHOD.ack, METHOD.nack, METHOD.reject]);

type Tagged = readonly [tag: number, id: string];

/** What waits for an answer on each channel of a connection. */
export class AmqpTags {
  readonly #channels = new Map<number, Map<number, string>>();

  add(channel: number, tag: number, id: string): void {
    const tags = this.#channels.get(channel);
    if (tags === undefined) this.#channels.set(channel, new Map([[tag, id]]));
    else tags.set(tag, id);
  }

  /** The channel is closed, or is another of the same number; returns what waited on it. */
  takeAll(channel: number): readonly Tagged[] {
    const tags = this.#channels.get(channel);
    this.#channels.delete(channel);
    return [...(tags ?? [])];
  }

  /** Returns what is answered, if this is an answer at all. */
  take({ channel, method, args }: Method): readonly Tagged[] {
    const tags = this.#channels.get(channel);
    if (tags === undefined || !ANSWERS.has(method)) return [];
    const last = Number(args.readBigUInt64BE(0));
    const multiple = method !== METHOD.reject && (flagsOf(args) & MULTIPLE) !== 0;
    const taken = [...tags].filter(([tag]) => (multiple ? last === 0 || tag <= last : tag === last));
    for (const [tag] of taken) tags.delete(tag);
    return taken;
  }
}

export function flagsOf(args: Buffer): number {
  return args.readUInt8(FLAGS_AT);
}
