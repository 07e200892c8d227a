import { describe, expect, it } from "vitest";
import type { Permission } from "../src/index.ts";
import { type Admin, ADMIN_KEY, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const reason = "INC-2041";
const filter = { route_id: "alarms" };
const JOBS = {
  redrive: { kind: "redrive", filter, reason },
  "redrive of all": { kind: "redrive", filter: {}, reason },
  "redrive to a binding": { kind: "redrive", filter, reason, binding_id: "alarms" },
  purge: { kind: "purge", filter, reason },
  "purge of all": { kind: "purge", filter: {}, reason },
} as const;
type JobName = keyof typeof JOBS;

/** For planning it, and for all that lets it do more than it does. */
const NEEDED: Readonly<Record<JobName, readonly Permission[]>> = {
  redrive: ["dlq.redrive"],
  "redrive of all": ["dlq.redrive"],
  "redrive to a binding": ["dlq.redrive", "dlq.edit"],
  purge: ["dlq.delete"],
  "purge of all": ["dlq.delete", "dlq.purge"],
};

const CHANGING = ["dlq.redrive", "dlq.delete", "dlq.purge", "dlq.edit"] as const satisfies readonly Permission[];
const subsets = Array.from({ length: 2 ** CHANGING.length }, (_, bits) =>
  CHANGING.filter((_one, nth) => bits & (1 << nth)),
);
const nameOf = (permissions: readonly Permission[]): string =>
  ["holder", ...permissions].join("-").replaceAll(".", "-");
const keyOf = (name: string): string => `${name}-key-0123456789`;
const keys = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: Object.fromEntries(
    subsets.map((some) => [nameOf(some), { key: keyOf(nameOf(some)), permissions: ["read" as const, ...some] }]),
  ),
};

interface Planned {
  readonly id: string;
  readonly plan: { readonly hash: string };
}

/** The row, what it takes, and its body. */
const ROWS: readonly (readonly [string, "all" | "base", (job: Planned) => unknown])[] = [
  ["PATCH", "all", () => ({ rate: 7 })],
  ["resume", "all", () => ({})],
  ["start", "all", ({ plan }) => ({ plan_hash: plan.hash })],
  ["pause", "base", () => undefined],
  ["undo", "base", () => undefined],
  ["cancel", "base", () => undefined],
];

async function planned(admin: Admin, name: JobName): Promise<Planned> {
  const answer = await admin.call("POST", "/dlq/jobs", JOBS[name]);
  expect(answer.status).toBe(201);
  return answer.body as Planned;
}

describe("operators 12.4: what is needed adds to the base permission of a job, for every call on it", () => {
  it.each(Object.keys(JOBS) as JobName[])("%s", async (name) => {
    await using admin = await startAdmin({ keys });
    await keep(admin, deadLetter("e1"));
    const job = await planned(admin, name);
    const needed = NEEDED[name];
    let [admitted, refused] = [0, 0];
    const calls = [
      ["POST", "/dlq/jobs", "plan", needed, JOBS[name]] as const,
      ...ROWS.map(([row, takes, body]) => {
        const path = `/dlq/jobs/${job.id}`;
        const all = takes === "all" ? needed : needed.slice(0, 1);
        return row === "PATCH"
          ? (["PATCH", path, "change", all, body(job)] as const)
          : (["POST", `${path}/${row}`, row, all, body(job)] as const);
      }),
    ];
    for (const [method, path, call, all, body] of calls)
      for (const has of subsets) {
        const before = admin.events.length;
        const caller = nameOf(has);
        const answer = await admin.call(method, path, body, { headers: { "X-API-Key": keyOf(caller) } });
        const lacks = all.filter((one) => !(has as readonly Permission[]).includes(one));
        const [needs] = lacks;
        if (needs === undefined) {
          admitted++;
          expect([call, has, answer.status < 500 && ![401, 403, 404].includes(answer.status)]).toEqual([
            call,
            has,
            true,
          ]);
          continue;
        }
        refused++;
        expect([call, has, answer]).toMatchObject([call, has, { status: 403, body: { reason: "permission", needs } }]);
        expect(admin.events.slice(before)).toMatchObject([
          { action: `dlq.job.${call}`, actor: caller, outcome: "failure", detail: { needs } },
        ]);
      }
    expect([admitted > 0, refused > 0]).toEqual([true, true]);
  });

  it("a purge of everything that an admin has planned is not started, and can be taken back, with dlq.delete", async () => {
    await using admin = await startAdmin({ keys });
    await keep(admin, deadLetter("e1"));
    const { id, plan } = await planned(admin, "purge of all");
    const as = { headers: { "X-API-Key": keyOf(nameOf(["dlq.delete"])) } };
    const start = (who?: RequestInit) => admin.call("POST", `/dlq/jobs/${id}/start`, { plan_hash: plan.hash }, who);
    const state = async () => ((await admin.call("GET", `/dlq/jobs/${id}`)).body as { readonly state: string }).state;
    expect(await start(as)).toMatchObject({ status: 403, body: { needs: "dlq.purge" } });
    expect(await state()).toBe("planned");
    expect(await admin.ids()).toEqual(["e1"]);
    expect((await start()).status).toBe(202);
    await expect.poll(state, { timeout: 20_000 }).toBe("completed");
    expect((await admin.call("POST", `/dlq/jobs/${id}/undo`, undefined, as)).status).toBe(202);
    await expect.poll(() => admin.ids(), { timeout: 20_000 }).toEqual(["e1"]);
  });
});
