import { type TransportPlace, tcpProxy } from "@bridge/conformance";
import { type SourceMessage, systemClock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { freePort } from "@bridge/tooling/listening";
import { request } from "undici";
import { type TargetRequest, targetServer } from "./target-server.ts";

const PAUSE_MS = 10;

/** A port of its own for a receiver and a server for a sender, each behind a proxy. */
export async function httpPlace(): Promise<TransportPlace> {
  const port = await freePort();
  const source = await tcpProxy({ target: { port } });
  const server = await targetServer();
  const target = await tcpProxy({ target: { port: server.port } });
  const callers = new AbortController();
  return {
    source: {
      receiver: { options: { addr: `127.0.0.1:${port}`, path: "/ingest" } },
      publish: async (message) => {
        void repeat(`http://${source.host}:${source.port}/ingest`, message, callers.signal);
      },
      link: source,
    },
    target: {
      sender: { options: { url: `http://${target.host}:${target.port}` } },
      address: "/ingest",
      async collect(count, signal) {
        await orAborted(server.request(count), signal);
        return server.requests.map(messageOf);
      },
      link: target,
    },
    async [Symbol.asyncDispose]() {
      callers.abort();
      await Promise.all([source, target, server].map((part) => part[Symbol.asyncDispose]()));
    },
  };
}

/** A caller as the contract wants it: repeats its request, under the same key, until it is told 202. */
async function repeat(url: string, message: SourceMessage, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { statusCode, body } = await request(url, {
        method: "POST",
        headers: headersOf(message),
        body: message.payload,
        signal,
      });
      await body.dump();
      if (statusCode === 202) return;
    } catch {
      // The connection is gone, or there is nobody yet: try again.
    }
    await systemClock.delay(PAUSE_MS, signal).catch(() => {});
  }
}

function headersOf(message: SourceMessage): string[] {
  const { id, dedupId, subject, contentType, correlationId, orderingKey, expiresAt, headers = {} } = message;
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ["Idempotency-Key", dedupId ?? id],
    ["X-Subject", subject],
    ["Content-Type", contentType],
    ["X-Correlation-ID", correlationId],
    ["X-Ordering-Key", orderingKey],
    ["X-Expires-At", expiresAt === undefined ? undefined : new Date(expiresAt).toISOString()],
    ...Object.entries(headers),
  ];
  return pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [name, Buffer.from(value, "utf8").toString("latin1")],
  );
}

function messageOf({ headers, body }: TargetRequest): SourceMessage {
  const text: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") text[name] = Buffer.from(value, "latin1").toString("utf8");
  }
  const expires = text["x-expires-at"];
  return {
    id: text["idempotency-key"],
    dedupId: text["idempotency-key"],
    subject: text["x-subject"] ?? "",
    contentType: text["content-type"],
    correlationId: text["x-correlation-id"],
    orderingKey: text["x-ordering-key"],
    expiresAt: expires === undefined ? undefined : Date.parse(expires),
    headers: text,
    payload: body,
  };
}
