import { expect, test } from "vitest";
import { ask, eventually } from "./support/ask.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { Target } from "./support/target.ts";

interface Health {
  readonly ready_for_traffic: boolean;
  readonly routes: readonly { readonly id: string; readonly progress: string; readonly reason?: string }[];
}

test("finding 8.2: a bridge that is not ready because its outbox is full names the routes and the limits in deep health", async () => {
  await using target = await Target.open("hangs");
  using folder = new Folder();
  const route = (id: string, depth: number): string =>
    `{id: ${id}, receiver_id: ${id}, bindings: [out-${id}], delivery_mode: shared_outbox, policy: {send_timeout: 1h, max_outbox_depth: ${depth}}}`;
  const pair = (part: (id: string) => string): string => `[${part("own")}, ${part("store")}]`;
  folder.write(
    "bridge.yaml",
    `${HTTP}bridge: {id: full}
stores: {outbox: {type: memory, options: {acknowledge_volatile: true, max_records: 3}}, dlq: {type: memory, options: {acknowledge_volatile: true}}}
receivers: ${pair((id) => `{id: ${id}, transport: memory, options: {channel: ${id}}}`)}
senders: [{id: out, transport: http, options: {url: "${target.url}"}}]
bindings: ${pair((id) => `{id: out-${id}, sender_id: out, address: /}`)}
routes: [${route("own", 2)}, ${route("store", 1_000)}]
`,
  );
  await using bridge = folder.run();
  const [monitor, admin] = [await bridge.url("monitor"), await bridge.url("admin")];
  const health = async (wanted: (health: Health) => boolean): Promise<Health> => {
    const look = () => ask(`${monitor}/api/v1/monitor/deephealth`);
    return (await eventually(look, ({ body }) => wanted(body as Health))).body as Health;
  };
  await health(({ ready_for_traffic: ready }) => ready);
  const over = new AbortController();
  const init = { method: "POST", headers: { "X-API-Key": ADMIN_KEY }, signal: over.signal };
  const body = JSON.stringify({ subject: "s", payload: "" });
  const inject = (id: string): Promise<unknown> =>
    ask(`${admin}/api/v1/admin/routes/${id}/inject`, { ...init, body }).catch(() => {});
  const injected = [inject("own"), inject("own")];
  await health(({ routes }) => routes[0]?.progress === "waiting");
  injected.push(inject("store"), inject("store"));
  const { ready_for_traffic, routes } = await health((told) => told.routes[1]?.progress === "waiting");
  expect(ready_for_traffic).toBe(false);
  expect(routes).toMatchObject([
    { id: "own", reason: "the outbox is full: max_outbox_depth is 2, records not delivered yet: 2" },
    { id: "store", reason: expect.stringContaining("it holds max_records 3") as string },
  ]);
  over.abort();
  await Promise.all(injected);
});
