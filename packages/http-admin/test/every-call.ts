import type { Logger } from "@bridge/ports";
import { ADMIN_KEY } from "./admin.ts";
import type { Described, Schema } from "./described.ts";
import { startTransactional, type Transactional } from "./transactional.ts";

/** A call as the server's own document describes it, to things that are there. */
export interface Call {
  readonly method: string;
  /** Below `/api/v1/admin`, with its parameters. */
  readonly template: string;
  readonly path: string;
  readonly schema: Schema | undefined;
  readonly parameters: readonly { readonly name: string; readonly schema: Schema }[];
}

export interface EveryCall {
  readonly admin: Transactional;
  readonly described: Described;
  readonly calls: readonly Call[];
  /** The path of an open transaction. */
  readonly transaction: string;
  /** Each record and each line of the log so far. */
  readonly heard: () => readonly string[];
}

export async function startWithEveryCall(): Promise<EveryCall> {
  const lines: unknown[] = [];
  const log = (message: string, fields?: object): void => void lines.push([message, fields]);
  const logger: Logger = { debug: log, info: log, warn: log, error: log, child: () => logger };
  const history = { read: async () => ({ events: [] }), verify: async () => ({ records: 0, head: "" }) };
  const admin = await startTransactional({ outbox: true, logger, admin: { history, logger } });
  const transaction = await admin.opened();
  const headers = { "X-API-Key": ADMIN_KEY };
  const described = (await (await fetch(`${admin.url}/api/v1/openapi.json`, { headers })).json()) as Described;
  const calls = Object.entries(described.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase(),
      template: template.slice("/api/v1/admin".length),
      path: template
        .slice("/api/v1/admin".length)
        .replace("/config/transactions/{txnID}", transaction)
        .replace("{routeID}", "alarms"),
      schema: requestBody?.content["application/json"]?.schema,
      parameters: parameters.filter((parameter) => parameter.in === "query"),
    })),
  );
  const heard = () => [...admin.events, ...lines].map((one) => JSON.stringify(one));
  return { admin, described, calls, transaction, heard };
}

/** What it may hold says the engine. */
export function isOverlay({ method, path }: Call): boolean {
  return method === "PATCH" && path.startsWith("/config/");
}
