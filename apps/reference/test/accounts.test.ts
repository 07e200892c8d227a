import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";

const DEPTH = 5;
const REFUSED = "m3";

/** What the metrics say of all legs together, without what is 0. */
async function accountsOf(bridge: Binary): Promise<Readonly<Record<string, number>>> {
  const url = `${await bridge.url("monitor")}/api/v1/monitor/metrics`;
  const lines = (await (await fetch(url, { headers: { "X-API-Key": ADMIN_KEY } })).text()).split("\n");
  const accounts: Record<string, number> = {};
  for (const line of lines) {
    const [, name = "", disposition = "", value] =
      /^bridge_(legs_\w+|unaccounted_messages)(?:\{.*?(?:disposition="(\w+)")?\})? (\S+)$/.exec(line) ?? [];
    const part = disposition === "" ? name : disposition;
    if (Number(value) !== 0 && value !== undefined) accounts[part] = (accounts[part] ?? 0) + Number(value);
  }
  return accounts;
}

/** A web service that is silent at first; then it refuses one message and takes the others. */
async function openShop(): Promise<{ readonly url: string; readonly open: () => void }> {
  const silent: (() => void)[] = [];
  let opened = false;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const answer = (): ServerResponse => response.writeHead(body === REFUSED ? 422 : 204).end();
      if (opened) answer();
      else silent.push(answer);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open() {
      opened = true;
      for (const answer of silent) answer();
    },
  };
}

test("the accounts are exact at rest, also across a kill and a stop with a full outbox", async () => {
  using folder = new Folder();
  const shop = await openShop();
  folder.write(
    "bridge.yaml",
    `${HTTP}
bridge: {id: accounts, quiesce_timeout: 1s}
stores: {outbox: {type: file, options: {path: outbox.db}}, dlq: {type: file, options: {path: dlq.db}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", response_timeout: 500ms}}]
senders: [{id: out, transport: http, options: {url: "${shop.url}"}}]
bindings: [{id: to-shop, sender_id: out}]
routes: [{id: only, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-shop], policy: {max_outbox_depth: ${DEPTH}}}]
`,
  );
  let bridge = folder.run();
  const endWith = async (signal: "SIGKILL" | "SIGTERM") => {
    bridge.kill(signal);
    expect(await bridge.ended).toBe(signal === "SIGTERM" ? 0 : signal);
  };
  const post = async (id: string): Promise<string> => {
    const { port } = await bridge.logged("HTTP receiver listens");
    const response = await fetch(`http://127.0.0.1:${String(port)}/ingest/in`, {
      method: "POST",
      headers: { "Idempotency-Key": id },
      body: id,
    });
    const { outcome = String(response.status) } = (await response.json()) as { readonly outcome?: string };
    return outcome;
  };
  const accounts = () => accountsOf(bridge);
  const patience = { timeout: 30_000 };
  try {
    for (let number = 0; number < DEPTH; number++) expect(await post(`m${number}`)).toBe("persisted");
    expect(await Promise.all([post("m5"), post("m6")])).toEqual(["503", "503"]);
    await expect
      .poll(accounts, patience)
      .toEqual({ legs_received_total: DEPTH + 2, legs_in_outbox: DEPTH, abandoned: 2 });

    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await endWith(signal);
      bridge = folder.run();
      await expect.poll(accounts, patience).toEqual({ legs_recovered_total: DEPTH, legs_in_outbox: DEPTH });
      expect(await post("m7")).toBe("503");
      await expect.poll(accounts, patience).toEqual({
        legs_recovered_total: DEPTH,
        legs_in_outbox: DEPTH,
        legs_received_total: 1,
        abandoned: 1,
      });
    }

    shop.open();
    const drained = { legs_recovered_total: DEPTH, delivered: DEPTH - 1, dead_lettered: 1 };
    await expect.poll(accounts, patience).toEqual({ ...drained, legs_received_total: 1, abandoned: 1 });
    expect(await post("m0")).toBe("duplicate");
    await expect.poll(accounts, patience).toEqual({ ...drained, legs_received_total: 2, abandoned: 1, duplicate: 1 });

    await endWith("SIGTERM");
    bridge = folder.run();
    expect(await accounts()).toEqual({});
    expect(await ask(`${await bridge.url("admin")}/api/v1/admin/dlq`)).toMatchObject({ body: { count: 1 } });
  } finally {
    await bridge[Symbol.asyncDispose]();
  }
});
