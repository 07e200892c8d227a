import { createHash } from "node:crypto";
import type { StorePlaces } from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { MissingFileError, readBytes } from "./read-text.ts";

/** YAML and JSON are read as YAML, of which this is a comment. */
const FIRST_LINE =
  /^# sha256: (?<digest>[0-9a-f]{64})(?: outbox: (?<outbox>[0-9a-f]{16}))?(?: dlq: (?<dlq>[0-9a-f]{16}))?\r?\n/;
const FIRST_LINE_BYTES = 256;

/** A document that is kept while its stores are being left. */
export interface DepartureFile {
  /** Of what it was when it was kept. */
  readonly identity: string;
  /** What it says now. */
  readonly bytes: Uint8Array;
  /** Whether that is what was kept, as far as it is known: an older release has not said what that was. */
  readonly isWhole: boolean;
  /** Where its stores were. */
  readonly places: StorePlaces;
}

/** A document as it is kept: one that is cut off at the end of a line would else be taken for a smaller one. */
export function departureFile(bytes: Uint8Array, identity: string, { outbox, dlq }: StorePlaces): Uint8Array {
  const places = `${outbox === undefined ? "" : ` outbox: ${outbox}`}${dlq === undefined ? "" : ` dlq: ${dlq}`}`;
  return Buffer.concat([Buffer.from(`# sha256: ${identity}${places}\n`), bytes]);
}

/**
 * What is kept at a path; `undefined` when there is nothing.
 * @throws Error with words for an operator when it cannot be read
 */
export async function readDepartureFile(path: string, signal: AbortSignal): Promise<DepartureFile | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readBytes(path, MAX_FILE_BYTES + FIRST_LINE_BYTES, signal);
  } catch (error) {
    if (error instanceof MissingFileError) return undefined;
    throw error;
  }
  const head = Buffer.from(bytes.subarray(0, FIRST_LINE_BYTES)).toString("latin1");
  const found = FIRST_LINE.exec(head);
  const [line = ""] = found ?? [];
  const { digest, ...others } = found?.groups ?? {};
  const places = Object.fromEntries(Object.entries(others).filter(([, place]) => place !== undefined));
  const document = bytes.subarray(line.length);
  const now = createHash("sha256").update(document).digest("hex");
  return { identity: digest ?? now, bytes: document, isWhole: digest === undefined || digest === now, places };
}
