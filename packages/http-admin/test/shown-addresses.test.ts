import type { OutboxRecord } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { ADMIN_KEY, type Admin, instead, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const keyOf = (name: string): string => `${name}-key-0123456789`;
const KEYS = {
  adminApiKey: ADMIN_KEY,
  adminApiKeys: {
    viewer: { key: keyOf("viewer"), role: "viewer" },
    operator: { key: keyOf("operator"), role: "operator" },
  },
} as const;
const ADDRESS = "to/canary";

/** Which of three callers sees an address that was made of this template: one without, with `payload.read`, and with all. */
const SEEN: readonly (readonly [what: string, template: string, seenBy: readonly string[]])[] = [
  ["nothing of a message", ADDRESS, ["viewer", "operator", "admin"]],
  ["its subject", "to/{$subject}", ["viewer", "operator", "admin"]],
  ["a header", "to/{place}", ["operator", "admin"]],
  ["a header that is redacted", "to/{place}/{x-Secret...}", ["admin"]],
  ["what stands in the binding no more", "elsewhere", []],
];

/** A bridge with such a binding, as each caller is shown what goes through it. */
async function opened(template: string) {
  const admin = await startAdmin({
    outbox: true,
    keys: KEYS,
    redact: { headers: ["X-SECRET"] },
    seenAs: (supervisor) => {
      const config = supervisor.config();
      const bindings = config.bindings.map((binding) => ({ ...binding, address: template }));
      return instead("config", () => ({ ...config, bindings }))(supervisor);
    },
  });
  const shownTo = async (who: string, path: string) => {
    const key = who === "admin" ? ADMIN_KEY : keyOf(who);
    return (await admin.call("GET", path, undefined, { headers: { "X-API-Key": key } })).body;
  };
  return { admin, shownTo };
}

async function waits(admin: Admin): Promise<void> {
  const { envelope } = deadLetter("e1");
  const place = { routeId: "boxed", bindingId: "boxed", address: ADDRESS, payloadDigest: "d", createdAt: 1 };
  const record: OutboxRecord = { ...place, id: "r", envelope };
  await admin.supervisor.stop(AbortSignal.timeout(10_000));
  await admin.supervisor.outbox()?.persist([record], AbortSignal.timeout(10_000));
}

describe.each(SEEN)("interface 4.2: an address that was made of %s", (_what, template, seenBy) => {
  it.each(["viewer", "operator", "admin"])(
    `is shown to ${seenBy.join(", ") || "nobody"} of those who look into the outbox: %s`,
    async (who) => {
      const { admin, shownTo } = await opened(template);
      await using _ = admin;
      await waits(admin);
      const address = seenBy.includes(who) ? ADDRESS : "[REDACTED]";
      expect(await shownTo(who, "/outbox/messages")).toMatchObject({ messages: [{ id: "r", address }] });
    },
  );

  it("is in the plan of a job for those of them with payload.read", async () => {
    const { admin, shownTo } = await opened(template);
    await using _ = admin;
    await keep(admin, deadLetter("e1"));
    const { body } = await admin.call("POST", "/dlq/jobs", { kind: "redrive", filter: {}, reason: "x" });
    const { id } = body as { readonly id: string };
    for (const who of ["viewer", "operator", "admin"]) {
      const { plan } = (await shownTo(who, `/dlq/jobs/${id}`)) as {
        readonly plan: { readonly sample: readonly object[] };
      };
      const isSeen = who !== "viewer" && (seenBy.includes(who) || seenBy.length === 0);
      expect([who, plan.sample.some((entry) => "address" in entry)]).toEqual([who, isSeen]);
    }
  });
});
