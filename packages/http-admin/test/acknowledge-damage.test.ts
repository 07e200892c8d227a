import { BridgeError } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { startAdmin } from "./admin.ts";

describe.each(["dlq", "outbox"] as const)("acknowledging damage of the %s", (role) => {
  const path = `/${role}/acknowledge-damage`;

  it("names what was not acknowledged yet, and is audited", async () => {
    await using admin = await startAdmin({ outbox: true });
    const files = ["/data/store.db.damaged-20260101T000000000Z"];
    Object.assign(admin.supervisor[role]() ?? {}, { acknowledgeDamage: () => files.splice(0) });
    expect(await admin.call("POST", path)).toMatchObject({
      status: 200,
      body: { acknowledged: ["/data/store.db.damaged-20260101T000000000Z"] },
    });
    expect(admin.events.at(-1)).toMatchObject({
      action: `${role}.acknowledge_damage`,
      outcome: "success",
      detail: { files: ["/data/store.db.damaged-20260101T000000000Z"] },
    });
    expect(await admin.call("POST", path)).toMatchObject({ status: 200, body: { acknowledged: [] } });
  });

  it("a store that has nothing to set aside has nothing to acknowledge", async () => {
    await using admin = await startAdmin({ outbox: true });
    expect(await admin.call("POST", path)).toMatchObject({ status: 200, body: { acknowledged: [] } });
  });

  it("a disk that does not keep it is an error that says so, and a failure in the audit log", async () => {
    await using admin = await startAdmin({ outbox: true });
    const fail = (): never => {
      throw new BridgeError("UNAVAILABLE", "the disk is read-only");
    };
    Object.assign(admin.supervisor[role]() ?? {}, { acknowledgeDamage: fail });
    expect(await admin.call("POST", path)).toMatchObject({ status: 500, body: { error: "the disk is read-only" } });
    expect(admin.events.at(-1)).toMatchObject({ action: `${role}.acknowledge_damage`, outcome: "failure" });
  });

  it("404 without such a store, 405 for another method", async () => {
    await using admin = await startAdmin({ store: "none" });
    expect(await admin.call("POST", path)).toMatchObject({ status: 404 });
    expect(await admin.call("GET", path)).toMatchObject({ status: 405 });
  });
});
