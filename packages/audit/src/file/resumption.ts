/** What was done to the file, as `detail.file` says it, in words. */
const HARMS: Readonly<Record<string, string>> = {
  gone: "the file was moved or deleted",
  replaced: "another file was put in its place",
  cut: "the end of the file was cut off",
};

/** What a record `audit.resumed` says that its writer found when it went on. */
export interface Resumption {
  readonly seq: number;
  /** Records that had been written, and were not there any more. */
  readonly lost: number;
  /** Events that could not be written before it. */
  readonly unwritten: number;
  /** Bytes of a torn line that were cut off before it. */
  readonly tornBytes: number;
  /** What somebody had done to the file: `gone`, `replaced` or `cut`. */
  readonly harm?: string;
  /** Whether those before it have no HMACs, and it has. */
  readonly plain: boolean;
}

/** `undefined` for a record of something else. */
export function resumptionIn(
  seq: number,
  { action, detail }: { readonly action: string; readonly detail?: Readonly<Record<string, unknown>> },
): Resumption | undefined {
  if (action !== "audit.resumed") return undefined;
  const harm = detail?.["file"];
  return {
    seq,
    lost: countIn(detail?.["lost"]),
    unwritten: countIn(detail?.["unwritten"]),
    tornBytes: countIn(detail?.["torn_bytes"]),
    ...(typeof harm === "string" && { harm }),
    plain: detail?.["plain"] === true,
  };
}

/** What was found, part by part. */
export function* foundWords({ harm, lost, unwritten, tornBytes, plain }: Resumption): Generator<string> {
  if (harm !== undefined) yield harmWords(harm);
  if (lost > 0) yield `${recordsOf(lost)} that had been written ${lost === 1 ? "is" : "are"} gone`;
  if (unwritten > 0) yield `${unwritten} ${unwritten === 1 ? "event" : "events"} could not be written`;
  if (tornBytes > 0) yield `a torn line of ${tornBytes} bytes was cut off`;
  if (plain) yield "the records before it have no HMAC";
}

/**
 * Which records are not there any more, in words; `undefined` when none are missing.
 *
 * One that begins a file carries the number behind the last that was written: what is missing before it shows. One that goes on
 * behind what was left in a file does not.
 */
export function removalWords(
  { seq, lost, harm }: Resumption,
  { begins, isFirst }: { readonly begins: boolean; /** Whether none before it is there. */ readonly isFirst: boolean },
): string | undefined {
  if (harm === undefined || seq === 1) return undefined;
  if (begins) return isFirst ? `the records before record ${seq} are gone: ${harmWords(harm)}` : undefined;
  if (lost === 0) return undefined;
  return `${recordsOf(lost)} before record ${seq} ${lost === 1 ? "is" : "are"} gone: ${harmWords(harm)}`;
}

function recordsOf(count: number): string {
  return `${count} ${count === 1 ? "record" : "records"}`;
}

function harmWords(harm: string): string {
  return HARMS[harm] ?? harm;
}

function countIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
