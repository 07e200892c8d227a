import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ADMIN_KEY, Reference } from "../binary/reference.ts";
import { fill, openDlq, ROUTES, routeName } from "../dlq/dead-letters.ts";
import { folder } from "../harness/folder.ts";
import { freePort } from "@bridge/tooling/listening";
import type { Settings } from "./contender.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

const ENTRIES = 20_000;
const SIZE = 256;
/** The most that a call may name. */
const CALL = 100;
const HEADERS = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };

/** Redriving everything in a DLQ on a file to a web service, as an operator would: a page of the list, and a call for it. */
export async function* redriveSuite(settings: Settings): AsyncGenerator<Measurement> {
  const entries = settings.messages ?? ENTRIES;
  const runs = await alternate(settings.rounds, ["bridge"], () => redriveAll(entries, settings.profileDir));
  yield { suite: "redrive", name: `${entries} entries to HTTP, ${CALL} a call`, runs };
}

async function redriveAll(entries: number, profileDir: string | undefined): Promise<Run> {
  await using place = await folder();
  await using target = await countingServer();
  const path = join(place.path, "dlq.db");
  {
    await using store = openDlq(path);
    await fill(store, { entries, size: SIZE, bindingId: "to-out" });
  }
  await using bridge = await Reference.configured(place.path, documentOf(path, target.port, await freePort()));
  await bridge.start(profileDir);

  const begin = performance.now();
  for (let redriven = 0; redriven < entries;) redriven += await redrivePage(bridge);
  const elapsedMs = performance.now() - begin;
  return { perSecond: (entries / elapsedMs) * 1_000, lost: entries - target.taken() };
}

async function redrivePage({ admin }: Reference): Promise<number> {
  const list = await fetch(`${admin}/dlq/messages?limit=${CALL}`, { headers: HEADERS });
  const { messages } = (await list.json()) as { readonly messages: readonly { readonly id: string }[] };
  const ids = messages.map(({ id }) => id);
  const response = await fetch(`${admin}/dlq/redrive`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ ids }),
  });
  const { redriven, errors } = (await response.json()) as { readonly redriven: number; readonly errors?: unknown };
  if (ids.length === 0 || redriven !== ids.length)
    throw new Error(`${redriven} of ${ids.length} entries were redriven: ${JSON.stringify(errors)}`);
  return redriven;
}

function documentOf(path: string, target: number, source: number): object {
  const routes = Array.from({ length: ROUTES }, (_, index) => routeName(index));
  return {
    stores: { dlq: { type: "file", options: { path } } },
    receivers: routes.map((id) => ({ id, transport: "http", options: { addr: `127.0.0.1:${source}` } })),
    senders: [{ id: "out", transport: "http", options: { url: `http://127.0.0.1:${target}` } }],
    bindings: [{ id: "to-out", sender_id: "out", address: "/keep" }],
    routes: routes.map((id) => ({ id, receiver_id: id, bindings: ["to-out"] })),
  };
}

interface CountingServer extends AsyncDisposable {
  readonly port: number;
  taken(): number;
}

async function countingServer(): Promise<CountingServer> {
  let taken = 0;
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => {
      taken++;
      response.writeHead(204).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => taken,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
