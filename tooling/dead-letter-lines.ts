/** Dead letters as lines of an export, made without a bridge, and their way out of one and back into it. @module */
import { hash } from "node:crypto";

const ROUTE = "orders";
const BINDING = "to-shop";
const SOURCE = "in";

export interface LineOptions {
  /** Default: a few bytes, of every value. */
  readonly payload?: (nth: number) => Uint8Array;
  /** Default: a second apart. */
  readonly failedAt?: (nth: number) => number;
}

/** Lines of so many entries, each under the id that its content has. */
export function deadLetterLines(count: number, { payload = bytesAt, failedAt = timeOf }: LineOptions = {}): string {
  return Array.from({ length: count }, (_, nth) => `${lineOf(nth, payload(nth), failedAt(nth))}\n`).join("");
}

function lineOf(nth: number, payload: Uint8Array, failedAt: number): string {
  const id = `m-${nth}`;
  const identity = JSON.stringify([ROUTE, BINDING, SOURCE, id, hash("sha256", payload)]);
  const at = new Date(failedAt).toISOString();
  return JSON.stringify({
    v: 1,
    entry: {
      id: hash("sha256", identity),
      route_id: ROUTE,
      binding_id: BINDING,
      reason: "the message itself was refused",
      category: "rejected",
      error_code: "REJECTED",
      last_error: `no \u0000 such "order" ${nth}`,
      failed_at: at,
      attempts: 1 + (nth % 5),
      ...(nth % 3 === 0 && { causation_id: `cause-${nth}` }),
    },
    envelope: {
      id,
      source_id: SOURCE,
      subject: `orders/${nth}/東京`,
      content_type: nth % 2 === 0 ? "application/json" : "",
      headers: { number: `${nth}`, place: "Zürich 🚀" },
      correlation_id: `c-${nth}`,
      received_at: at,
      ...(nth % 4 === 0 && { expires_at: "2100-01-01T00:00:00.000Z" }),
      ...(nth % 2 === 0 && { ordering_key: `key-${nth % 10}` }),
    },
    payload: Buffer.from(payload).toString("base64"),
  });
}

function bytesAt(nth: number): Uint8Array {
  return Uint8Array.from({ length: nth % 300 }, (_, at) => (at + nth) % 256);
}

function timeOf(nth: number): number {
  return Date.UTC(2026, 0, 1) + nth * 1_000;
}

/** What became of entries that went into a bridge, out, were purged, and went in again. */
export interface Travelled {
  /** What each import was answered, in order: into an empty store, into it again after a purge, and once more. */
  readonly imports: readonly unknown[];
  /** The export before the purge, and that after it. */
  readonly before: string;
  readonly after: string;
}

/** Sends lines, fewer than 1 MB, through the admin server at `url`. */
export async function travel(url: string, key: string, lines: string): Promise<Travelled> {
  const call = async (path: string, body?: string): Promise<string> => {
    const init = body === undefined ? {} : { method: "POST", body };
    const response = await fetch(`${url}/api/v1/admin${path}`, { ...init, headers: { "X-API-Key": key } });
    if (response.status >= 400) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  const take = async (text: string): Promise<unknown> => JSON.parse(await call("/dlq/import", text));
  const first = await take(lines);
  const before = await call("/dlq/export?payload=true");
  while ((await call("/dlq/purge", JSON.stringify({ confirm_purge_all: true }))).includes("has_more"));
  const imports = [first, await take(before), await take(before)];
  return { imports, before, after: await call("/dlq/export?payload=true") };
}
