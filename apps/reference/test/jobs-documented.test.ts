import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { env as inherited } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { letterOf, lettersInFile } from "./support/letters.ts";
import { Shop } from "./support/shop.ts";
import { Stage } from "./support/stage.ts";
import { reaches } from "./support/told-jobs.ts";

const MANUAL = fileURLToPath(new URL("../../../docs/operating.md", import.meta.url));

/** The commands of the chapter, block by block. */
function blocks(): readonly string[] {
  const text = readFileSync(MANUAL, "utf8");
  const [, chapter = ""] = /\n### Jobs\n(.*?)\n##+ /s.exec(text) ?? [];
  return [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
}

test("operators 11: the commands of the manual's chapter on jobs do what it says", async () => {
  const folder = new Folder();
  await using shop = await Shop.open();
  const letters = lettersInFile(`${folder.path}/dlq.db`);
  {
    await using store = await letters.open();
    const signal = AbortSignal.timeout(30_000);
    for (let nth = 0; nth < 40; nth++) {
      const expired = nth < 10 ? ({ category: "expired", errorCode: "MESSAGE_EXPIRED" } as const) : {};
      const failedAt = Date.UTC(2026, 0, 31, nth < 10 ? 6 : 9) + nth;
      await store.put(letterOf(nth, { routeId: "orders", failedAt, ...expired }), signal);
    }
  }
  await using stage = await Stage.run(
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
  /** What each command says, one after another; those that come later know the variables of those before. */
  const run = async (...scripts: readonly string[]): Promise<readonly unknown[]> => {
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", scripts.join("\n")], {
      cwd: folder.path,
      env,
    });
    return stdout
      .replaceAll("}\n{", "}{")
      .split(/(?<=\})(?=\{)/)
      .map((one) => JSON.parse(one) as unknown);
  };
  const ask = stage.admin.bind(stage);
  const [redrive = "", slower = "", purge = "", undo = "", ...others] = blocks();
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
