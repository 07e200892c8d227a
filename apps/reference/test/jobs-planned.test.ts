import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Folder, HTTP } from "./support/folder.ts";
import { letterOf, lettersInFile } from "./support/letters.ts";
import { Shop } from "./support/shop.ts";
import { Stage } from "./support/stage.ts";
import { AT_ONCE, planned, reaches } from "./support/told-jobs.ts";

/** All rows of all tables of a file, but for those of the table of jobs. */
function rowsOf(path: string): Readonly<Record<string, readonly unknown[]>> {
  using database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all() as {
    readonly name: string;
  }[];
  return Object.fromEntries(
    tables
      .filter(({ name }) => name !== "dead_letter_job")
      .map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]),
  );
}

test("operators 3.5.5: a plan opens no socket and changes no byte of a store but its job, and what it says of each entry comes true", async () => {
  const folder = new Folder();
  await using shop = await Shop.open();
  const path = `${folder.path}/dlq.db`;
  const letters = lettersInFile(path);
  const said = ["deliverable", "expired", "filtered", "no_route", "no_route", "deliverable", "expired", "filtered"];
  {
    await using store = await letters.open();
    const signal = AbortSignal.timeout(30_000);
    for (const [nth, outcome] of said.entries()) {
      const headers = outcome === "filtered" ? { kind: "unwanted" } : {};
      const envelope = { headers, ...(outcome === "expired" && { expiresAt: 1_700_000_000_000 }) };
      const gone = nth === 3 ? { routeId: "gone" } : { bindingId: "gone" };
      await store.put(letterOf(nth, { ...(outcome === "no_route" && gone), envelope }), signal);
    }
  }
  await using stage = await Stage.run(
    `${HTTP}
bridge: {id: planning}
stores: {dlq: ${letters.block}, outbox: {type: file, options: {path: "${folder.path}/outbox.db"}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", allow_anonymous: true}}]
senders: [{id: out, transport: http, options: {url: "${shop.url}"}}]
bindings: [{id: to-out, sender_id: out}]
processors: [{id: wanted, type: filter, options: {drop: {field: header.kind, op: eq, value: unwanted}}}]
routes: [{id: only, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-out], processors: [wanted], policy: {max_replay_attempts: 1}}]
`,
    {},
    folder,
  );
  const ask = stage.admin.bind(stage);
  // Its files are its own as long as it runs.
  const stores = async () => {
    stage.bridge.kill("SIGKILL");
    await stage.bridge.ended;
    const rows = [rowsOf(path), rowsOf(`${folder.path}/outbox.db`)];
    await stage.restart();
    return rows;
  };
  const before = await stores();
  const job = await planned(ask, AT_ONCE);
  expect(await stores()).toEqual(before);
  expect(shop.connections).toBe(0);
  expect(job.plan.sample.map(({ outcome }) => outcome)).toEqual(said);

  await ask("POST", `/dlq/jobs/${job.id}/start`, { plan_hash: job.plan.hash });
  await reaches(ask, job, "completed");
  const { body } = await ask("GET", "/dlq/messages?sort=oldest");
  const left = (
    body as { readonly messages: readonly { readonly id: string; readonly redrives: { readonly last_code: string } }[] }
  ).messages;
  const codes = { MESSAGE_EXPIRED: "expired", MESSAGE_FILTERED: "filtered", BINDING_UNRESOLVED: "no_route" };
  const came = new Map(left.map(({ id, redrives }) => [id, codes[redrives.last_code as keyof typeof codes]]));
  expect(job.plan.sample.map(({ id }) => came.get(id) ?? "deliverable")).toEqual(said);
  expect([...shop.accepted.keys()].toSorted()).toEqual(["e0", "e5"]);
});
