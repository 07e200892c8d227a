import { type AuditEvent, type AuditHistory, createAuditor } from "@bridge/audit";
import { createRecorder, type Supervisor } from "@bridge/core";
import { listen, type ServedCounts } from "@bridge/http-kit";
import { type Logger, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { type AdminAppOptions, createAdminApp } from "../src/index.ts";
import { type Bridge, type BridgeOptions, makeBridge } from "./bridge.ts";

export const ADMIN_KEY = "admin-key-0123456789";
/** Answers that are no JSON. */
export const GOING_ON = new Set(["text/event-stream", "application/x-ndjson"]);
/** A body that is too large, and is announced alone. */
export const TOO_LARGE: unique symbol = Symbol("too large");

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface Admin extends AsyncDisposable, Bridge {
  readonly url: string;
  readonly events: readonly AuditEvent[];
  /** What the server has counted. */
  counts(): ServedCounts;
  /** How many streams are open. */
  streams(): number;
  /** Ends the server and leaves the bridge as it is. */
  closeServer(): Promise<void>;
  /** Of these, the ones of calls that are done. */
  done(): readonly AuditEvent[];
  /** What was logged at level error. */
  readonly errors: readonly unknown[];
  /** With the key; paths are below `/api/v1/admin`. A body that is no string is sent as JSON. */
  call(method: string, path: string, body?: unknown, init?: RequestInit): Promise<Answer>;
}

export interface StartOptions extends BridgeOptions, Partial<Omit<AdminAppOptions, "supervisor">> {
  /** Default: a new one. */
  readonly bridge?: Bridge;
  /** What has been recorded. Default: it cannot be read. */
  readonly history?: AuditHistory;
  /** Default: the bridge is started. */
  readonly started?: boolean;
  /** Stands in front of the bridge. */
  readonly seenAs?: (supervisor: Supervisor) => Supervisor | undefined;
}

/** The admin server of a real bridge on a free port; disposing it ends the bridge too. */
export async function startAdmin({
  started = true,
  history,
  seenAs,
  store,
  outbox = false,
  bridge = makeBridge({ outbox, ...(store !== undefined && { store }) }),
  ...options
}: StartOptions = {}): Promise<Admin> {
  if (started) await bridge.supervisor.start(AbortSignal.timeout(10_000));
  const events: AuditEvent[] = [];
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (message, fields) => errors.push({ message, ...fields }) };
  const auditor = createAuditor({
    clock: systemClock,
    logger,
    sinks: [{ name: "list", write: (event) => void events.push(event), ...(history !== undefined && { history }) }],
  });
  const recorder = createRecorder({ supervisor: bridge.supervisor, clock: options.clock ?? systemClock });
  const app = createAdminApp({
    recorder,
    supervisor: () => (seenAs === undefined ? bridge.supervisor : seenAs(bridge.supervisor)),
    keys: { adminApiKey: ADMIN_KEY },
    auditor,
    logger,
    ...options,
  });
  const listener = await listen(
    { addr: "127.0.0.1:0", app, logger, random: systemRandom() },
    AbortSignal.timeout(10_000),
  );
  return {
    ...bridge,
    url: listener.url,
    counts: () => app.counts(),
    streams: () => app.counts().streams.reduce((sum, { open }) => sum + open, 0),
    closeServer: async () => listener[Symbol.asyncDispose](),
    events,
    done: () => events.filter(({ action }) => !action.endsWith(".begin")),
    errors,
    call: async (method, path, body, init) => {
      const response = await fetch(`${listener.url}/api/v1/admin${path}`, {
        method,
        headers: { "X-API-Key": ADMIN_KEY },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        ...init,
      });
      if (GOING_ON.has(response.headers.get("Content-Type") ?? "")) {
        await response.body?.cancel();
        return { status: response.status, body: undefined, headers: response.headers };
      }
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text), headers: response.headers };
    },
    [Symbol.asyncDispose]: async () => {
      await listener[Symbol.asyncDispose]();
      recorder[Symbol.dispose]();
      await auditor[Symbol.asyncDispose]();
      await bridge.supervisor.shutdown().catch(() => {});
    },
  };
}

/** Stands in for a method of the bridge. */
export function instead<Name extends keyof Supervisor>(
  name: Name,
  method: Supervisor[Name],
): (supervisor: Supervisor) => Supervisor {
  return (supervisor) =>
    new Proxy(supervisor, {
      get(target, property) {
        if (property === name) return method;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
}
