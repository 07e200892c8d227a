import { readFile } from "node:fs/promises";
import * as v from "valibot";

const document = v.object({
  http: v.object({ admin_addr: v.string(), monitor_addr: v.string(), admin_api_key: v.string() }),
  stores: v.object({ dlq: v.object({ options: v.object({ path: v.string() }) }) }),
  sessions: v.tuple([v.object({ options: v.object({ url: v.string() }) })]),
  senders: v.tuple([v.object({ options: v.object({ url: v.string() }) })]),
});

/** Where a bridge in code finds what it needs, and is found. */
export interface Places {
  /** The broker of its queues. */
  readonly rabbit: string;
  /** The web service. */
  readonly web: string;
  /** The file of dead letters. */
  readonly dlq: string;
  /** Where it is asked how it does. */
  readonly adminAddr: string;
  readonly monitorAddr: string;
  readonly adminKey: string;
}

/** Reads them from the document that the binary would run. */
export async function readPlaces(path: string): Promise<Places> {
  const { http, stores, sessions, senders } = v.parse(document, JSON.parse(await readFile(path, "utf8")));
  return {
    rabbit: sessions[0].options.url,
    web: senders[0].options.url,
    dlq: stores.dlq.options.path,
    adminAddr: http.admin_addr,
    monitorAddr: http.monitor_addr,
    adminKey: http.admin_api_key,
  };
}
