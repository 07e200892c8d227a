import type { Delivery, Envelope } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { Work } from "../../src/route/work.ts";

function work(): Work {
  const envelope = { id: "1" } as Envelope;
  const delivery = { message: envelope, settle: () => {} } as unknown as Delivery;
  return new Work({ delivery, envelope, origin: "received", startedAt: 0 });
}

describe("until", () => {
  it("ends as what it waits for ends", async () => {
    await expect(work().until(Promise.resolve())).resolves.toBeUndefined();
    await expect(work().until(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  });

  it("waits no longer than the work goes on, however long the source takes to answer", async () => {
    const cancelled = work();
    const told = cancelled.until(new Promise(() => {}));
    cancelled.cancel();
    await expect(told).rejects.toThrow("the work was cancelled");
  });

  it("rejects for work that was cancelled before, and hears nothing of a late failure", async () => {
    const cancelled = work();
    cancelled.cancel();
    const late = Promise.withResolvers<void>();
    await expect(cancelled.until(late.promise)).rejects.toThrow("the work was cancelled");
    late.reject(new Error("lost"));
    await new Promise(setImmediate);
  });
});
