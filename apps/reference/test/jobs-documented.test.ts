import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { env as inherited } from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { letterOf, lettersInFile } from "./support/letters.ts";
import { Shop } from "./support/shop.ts";
import { Stage } from "./support/stage.ts";
import { reaches } from "./support/told-jobs.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

const EXPIRED = { category: "expired", errorCode: "MESSAGE_EXPIRED" } as const;
const AWAY = { category: "transient", errorCode: "UNAVAILABLE" } as const;

/** The commands of a chapter, block by block. */
function blocksOf(page: string, title: string): readonly string[] {
  const text = readFileSync(new URL(page, DOCS), "utf8");
  const [, chapter = ""] = new RegExp(`\\n##+ ${title}\\n(.*?)\\n##+ `, "s").exec(text) ?? [];
  return [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
}

/** A bridge with 30 dead letters that could be delivered, and 10 that came too late; and a shell beside it. */
async function documented(): Promise<Documented> {
  const folder = new Folder();
  const shop = await Shop.open();
  const letters = lettersInFile(`${folder.path}/dlq.db`);
  {
    await using store = await letters.open();
    const signal = AbortSignal.timeout(30_000);
    for (let nth = 0; nth < 40; nth++) {
      const kind = nth < 10 ? EXPIRED : AWAY;
      const failedAt = Date.UTC(2026, 0, 31, nth < 10 ? 6 : 9) + nth;
      await store.put(letterOf(nth, { routeId: "orders", failedAt, ...kind }), signal);
    }
  }
  const stage = await Stage.run(
    `${HTTP}
bridge: {id: documented}
stores: {dlq: ${letters.block}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", allow_anonymous: true}}]
senders: [{id: out, transport: http, options: {url: "${shop.url}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: orders, receiver_id: in, bindings: [to-out]}]
`,
    {},
    folder,
  );
  const env = { ...inherited, A: `${await stage.bridge.url("admin")}/api/v1/admin`, K: `X-API-Key: ${ADMIN_KEY}` };
  return {
    ask: stage.admin.bind(stage),
    async run(...scripts) {
      const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", scripts.join("\n")], {
        cwd: folder.path,
        env,
      });
      return stdout.split(/(?<=[}\]])\n?(?=[{[])/).map((one) => JSON.parse(one) as unknown);
    },
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await shop[Symbol.asyncDispose]();
    },
  };
}

interface Documented extends AsyncDisposable {
  readonly ask: Stage["admin"];
  /** What each command says, one after another; those that come later know the variables of those before. */
  readonly run: (...scripts: readonly string[]) => Promise<readonly unknown[]>;
}

test("operators 11: the commands of the manual's chapter on jobs do what it says", async () => {
  await using bridge = await documented();
  const { run, ask } = bridge;
  const [redrive = "", active = "", slower = "", purge = "", undo = "", ...others] = blocksOf("operating.md", "Jobs");
  expect(others).toEqual([]);

  const [plan, started, shown] = await run(redrive);
  expect(plan).toMatchObject({ total: 30, exact: true, predicted: { deliverable: 30 } });
  expect(started).toMatchObject({ state: "running" });
  expect(shown).toMatchObject({ progress: { total: 30 } });
  const variables = /^J=.*$/m.exec(redrive)?.[0] ?? "";
  const [changed, paused, resumed, cancelled] = await run(variables, slower);
  const { id } = changed as { readonly id: string };
  expect(changed).toMatchObject({ rate: 20 });
  expect(paused).toMatchObject({ id });
  expect(resumed).toMatchObject({ id });
  expect(cancelled).toMatchObject({ id });
  await reaches(ask, { id }, "cancelled");

  const [list = "", cancel = ""] = active.split("\n");
  const asked = { kind: "redrive", filter: { route_id: "orders" }, reason: "a look" };
  const planned = (await ask("POST", "/dlq/jobs", asked)).body as { readonly id: string };
  const [row] = await run(`${list} | jq -R 'split("\\t")'`);
  expect(row).toEqual([planned.id, "planned", expect.any(String), "a look"]);
  const [unwanted] = await run(cancel.replace("ID", planned.id));
  expect(unwanted).toMatchObject({ id: planned.id, state: "cancelled" });

  const [begun] = await run(purge);
  expect(begun).toMatchObject({ kind: "purge", state: "running", plan: { total: 10 } });
  const purged = begun as { readonly id: string };
  expect((await reaches(ask, purged, "completed")).progress).toMatchObject({ succeeded: 10 });
  const [undone] = await run(/^P=.*$/m.exec(purge)?.[0] ?? "", undo);
  expect(undone).toMatchObject({ id: purged.id });
  await reaches(ask, purged, "undone");
  const summary = await ask("GET", "/dlq/summary?category=expired");
  expect(summary).toMatchObject({ body: { total: 10 } });
});

test("operators 11: the runbook of a growing DLQ shows its groups, and gets entries out by jobs", async () => {
  await using bridge = await documented();
  const { run, ask } = bridge;
  const page = "runbooks/growing-dlq.md";
  const [look = "", ...alike] = blocksOf(page, "1\\. How fast, and what");
  const [redrive = "", purge = "", ...others] = blocksOf(page, "4\\. Get them out");
  expect([alike, others]).toEqual([[], []]);

  const [kinds, byError] = await run(look);
  expect(kinds).toMatchObject({ total: 40, exact: true });
  expect((byError as readonly { readonly count: number }[]).map(({ count }) => count)).toEqual([30, 10]);

  const [first = "", ...rest] = redrive.split("\n\n");
  const [{ messages }] = [(await ask("GET", "/dlq/messages?category=transient&limit=1")).body as Listed];
  const [one] = await run(first.replace("ID", messages[0]?.id ?? ""));
  expect(one).toEqual({ redriven: 1, failed: 0 });
  const [plan, started] = await run(...rest);
  expect(plan).toMatchObject({ total: 29, exact: true, predicted: { deliverable: 29 } });
  expect((await reaches(ask, started as { readonly id: string }, "completed")).progress).toMatchObject({
    succeeded: 29,
  });

  const lines = purge.trimEnd().split("\n");
  const [begun] = await run(...lines.slice(0, -1));
  const purged = begun as { readonly id: string };
  expect((await reaches(ask, purged, "completed")).progress).toMatchObject({ succeeded: 10 });
  await run(lines.find((line) => line.startsWith("P=")) ?? "", lines.at(-1) ?? "");
  await reaches(ask, purged, "undone");
});

interface Listed {
  readonly messages: readonly { readonly id: string }[];
}
