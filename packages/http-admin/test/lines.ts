import { hash } from "node:crypto";
import { deadLetterId } from "@bridge/core";
import type { DeadLetter } from "@bridge/ports";
import { type Admin, ADMIN_KEY } from "./admin.ts";
import { deadLetter } from "./bridge.ts";

/** An entry under the id that its content has. */
export function sound(name: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  const entry = deadLetter(name, changes);
  return { ...entry, id: deadLetterId(entry.routeId, entry.bindingId, entry.envelope) };
}

export interface Line {
  readonly v: 1;
  readonly entry: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly envelope?: Readonly<Record<string, unknown>> & { readonly headers: Readonly<Record<string, string>> };
  readonly payload?: string;
}

export interface Exported {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly lines: readonly Line[];
  /** Its last line, when it is one. */
  readonly end: { readonly count: number; readonly sha256: string } | undefined;
}

export async function exported(admin: Admin, query = "?payload=true", key = ADMIN_KEY): Promise<Exported> {
  const response = await fetch(`${admin.url}/api/v1/admin/dlq/export${query}`, { headers: { "X-API-Key": key } });
  const text = await response.text();
  const all = text.split("\n").filter((line) => line !== "");
  const lines = all.map((line) => JSON.parse(line) as Line & { end?: true; count: number; sha256: string });
  const last = lines.at(-1);
  const { status, headers } = response;
  return last?.end === true
    ? { status, headers, text, lines: lines.slice(0, -1), end: last }
    : { status, headers, text, lines, end: undefined };
}

/** Of all that comes before the last line. */
export function digestOf(text: string): string {
  const last = text.lastIndexOf("\n", text.length - 2) + 1;
  return hash("sha256", text.slice(0, last));
}

export function importLines(admin: Admin, text: string, init?: RequestInit) {
  return admin.call("POST", "/dlq/import", text, init);
}
