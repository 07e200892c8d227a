import { describe, expect, it } from "vitest";
import { startTransactional } from "./transactional.ts";
import { stuck } from "./stuck.ts";

const HELD = { routes: [{ id: "boxed", delivery_mode: "direct_hold" }] };
const STRANDED = [{ store: "outbox", route_id: "boxed", binding_id: "boxed", waiting: 1 }];
/** An option by which one store in memory differs from another. */
const MOST = { outbox: "max_records", dlq: "max_entries" } as const;
const WORDS = expect.stringMatching(/1 in the outbox of route boxed .*stores\.outbox\.abandon_backlog: true/) as string;

describe("finding 4.1: a commit that would leave messages behind", () => {
  it("is 422 with what waits where, writes nothing and leaves the transaction open, until it says abandon_backlog", async () => {
    await using admin = await startTransactional({ outbox: true });
    await stuck(admin);
    const path = await admin.opened(HELD);
    expect(await admin.call("POST", `${path}/validate`)).toMatchObject({
      status: 200,
      body: { valid: false, validation_errors: [], stranded: STRANDED },
    });
    expect(await admin.call("POST", `${path}/commit`)).toEqual(
      expect.objectContaining({ status: 422, body: { error: WORDS, stranded: STRANDED } }),
    );
    expect(admin.supervisor.config().configVersion).toBe(0);
    await admin.call("PATCH", path, { stores: { outbox: { abandon_backlog: true } } });
    expect(await admin.call("POST", `${path}/validate`)).toMatchObject({ body: { valid: true } });
    expect(await admin.call("POST", `${path}/commit`)).toMatchObject({ status: 200, body: { status: "committed" } });
  });

  it.each(["outbox", "dlq"] as const)(
    "is 422 also when only an instance that runs what is stored could tell what the stored %s holds",
    async (role) => {
      await using admin = await startTransactional({ outbox: true });
      const { stores = {}, ...rest } = admin.document;
      const elsewhere = { ...stores[role], options: { acknowledge_volatile: true, [MOST[role]]: 7 } };
      admin.held.replace({ ...rest, config_version: 4, stores: { ...stores, [role]: elsewhere } });
      const path = await admin.opened();
      const text = JSON.stringify(admin.document);
      expect(await admin.call("PUT", `${path}/document`, { text })).toMatchObject({ status: 200 });
      expect(await admin.call("POST", `${path}/validate`)).toMatchObject({
        body: { valid: false, stranded: [{ store: role }] },
      });
      for (const body of [{}, { confirm_within: "10s" }])
        expect(await admin.call("POST", `${path}/commit`, body)).toEqual(
          expect.objectContaining({
            status: 422,
            body: {
              error: expect.stringMatching(/of the stored version 4 holds.* an instance that runs version 4/) as string,
              stranded: [{ store: role }],
            },
          }),
        );
      expect(admin.supervisor.config().configVersion).toBe(0);
    },
  );
});
