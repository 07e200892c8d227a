import { PATIENCE } from "@bridge/tooling/patience";
import { setTimeout as delay } from "node:timers/promises";
import { ADMIN_KEY } from "./folder.ts";

export interface Told {
  readonly status: number;
  readonly body: unknown;
}

/** Asks a server of the bridge, with the admin key. */
export async function ask(url: string, init: RequestInit = {}): Promise<Told> {
  const response = await fetch(url, {
    headers: { "X-API-Key": ADMIN_KEY },
    signal: AbortSignal.timeout(PATIENCE.timeout),
    ...init,
  });
  return { status: response.status, body: await response.json() };
}

export function probe(monitor: string, name: "health" | "live" | "ready" | `ready?level=${string}`): Promise<Told> {
  return ask(`${monitor}/api/v1/monitor/${name}`);
}

/** Asks again and again until the answer is as wanted; fails with the last one. */
export async function eventually(look: () => Promise<Told>, wanted: (told: Told) => boolean): Promise<Told> {
  const deadline = AbortSignal.timeout(PATIENCE.timeout);
  for (;;) {
    const told = await look();
    if (wanted(told)) return told;
    if (deadline.aborted) throw new Error(`it stays at ${JSON.stringify(told)}`);
    await delay(20);
  }
}
