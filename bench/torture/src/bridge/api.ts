import * as v from "valibot";

const TIMEOUT_MS = 5_000;
const PAGE = 1_000;
/** The largest offset that the interface takes. */
const MAX_OFFSET = 100_000;

const entryPage = v.object({
  messages: v.array(
    v.object({
      id: v.string(),
      correlation_id: v.string(),
      binding_id: v.string(),
      category: v.string(),
      error_code: v.string(),
    }),
  ),
  has_more: v.boolean(),
});
const entry = v.object({ payload: v.string(), envelope: v.object({ id: v.string() }) });
const deepHealth = v.object({ config_watch: v.optional(v.object({ version: v.number() })) });
const recordPage = v.object({
  messages: v.array(v.object({ envelope_id: v.string(), binding_id: v.string() })),
  has_more: v.boolean(),
});

/** A dead letter: its own id, and that of its message. */
export interface Entry {
  readonly id: string;
  readonly messageId: string;
  readonly bindingId: string;
  readonly category: string;
  readonly errorCode: string;
}

/** A record of the outbox: its message, and for whom it waits. */
export interface Waiting {
  readonly messageId: string;
  readonly bindingId: string;
}

/** What the bridge says of itself. Everything rejects while it does not answer. */
export class BridgeApi {
  readonly #admin: string;
  readonly #monitor: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ admin, monitor }: { readonly admin: number; readonly monitor: number }, key: string) {
    this.#admin = `http://127.0.0.1:${admin}/api/v1/admin`;
    this.#monitor = `http://127.0.0.1:${monitor}/api/v1/monitor`;
    this.#headers = { "X-API-Key": key };
  }

  /** Whether the process answers. */
  async alive(): Promise<boolean> {
    return (await this.#get(`${this.#monitor}/live`).catch(() => undefined)) !== undefined;
  }

  /** Whether its runtime is running. */
  async healthy(): Promise<boolean> {
    return (await this.#get(`${this.#monitor}/health`).catch(() => undefined))?.ok === true;
  }

  /** Whether every session is connected and every route can dispatch. */
  async ready(): Promise<boolean> {
    return (await this.#get(`${this.#monitor}/ready`).catch(() => undefined))?.ok === true;
  }

  /** Of the configuration that runs; `undefined` while the bridge does not say. */
  async configVersion(): Promise<number | undefined> {
    const response = await this.#get(`${this.#monitor}/deephealth`).catch(() => undefined);
    const health = v.safeParse(deepHealth, await response?.json().catch(() => undefined));
    return health.success ? health.output.config_watch?.version : undefined;
  }

  /** The sum of each metric over all its labels. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const response = await this.#get(`${this.#monitor}/metrics`);
    if (!response.ok) throw new Error(`the metrics are answered with ${response.status}`);
    return sums(await response.text());
  }

  /** The dead letters of one route. */
  async deadLetters(route: string): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const page = v.parse(entryPage, await this.#json(`/dlq/messages?${pageOf(route, offset)}`));
      // The messages of the torture have no correlation id of their own, so the bridge takes the id.
      entries.push(
        ...page.messages.map(({ id, correlation_id, binding_id, category, error_code }) => ({
          id,
          messageId: correlation_id,
          bindingId: binding_id,
          category,
          errorCode: error_code,
        })),
      );
      if (!page.has_more) return entries;
    }
  }

  async deadLetter(id: string): Promise<{ readonly messageId: string; readonly payload: Buffer }> {
    const { payload, envelope } = v.parse(entry, await this.#json(`/dlq/messages/${encodeURIComponent(id)}`));
    return { messageId: envelope.id, payload: Buffer.from(payload, "base64") };
  }

  /** The ids of the messages of one route that are in the outbox. */
  async outbox(route: string): Promise<readonly string[]> {
    return (await this.waiting(route)).map(({ messageId }) => messageId);
  }

  /** What is in the outbox of one route. */
  async waiting(route: string): Promise<readonly Waiting[]> {
    const records: Waiting[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const page = v.parse(recordPage, await this.#json(`/outbox/messages?${pageOf(route, offset)}`));
      records.push(
        ...page.messages.map(({ envelope_id, binding_id }) => ({ messageId: envelope_id, bindingId: binding_id })),
      );
      if (!page.has_more) return records;
    }
  }

  async #json(path: string): Promise<unknown> {
    const response = await this.#get(`${this.#admin}${path}`);
    if (!response.ok) throw new Error(`${path} is answered with ${response.status}`);
    return response.json();
  }

  #get(url: string): Promise<Response> {
    return fetch(url, { headers: this.#headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  }
}

function pageOf(route: string, offset: number): string {
  if (offset > MAX_OFFSET)
    throw new Error(`${route} has more than ${MAX_OFFSET} entries: use a lower rate, or fewer kills`);
  return `route_id=${route}&limit=${PAGE}&offset=${offset}`;
}

const SAMPLE = /^(\w+)(?:\{.*\})? (\S+)/;

function sums(text: string): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, value] = SAMPLE.exec(line) ?? [];
    if (name !== undefined) all.set(name, (all.get(name) ?? 0) + Number(value));
  }
  return all;
}
