import { BridgeError } from "@bridge/ports";
import type { Admin } from "./admin.ts";

/** Lets the next message of route `boxed`, of ordering key `k`, fail once: it waits an hour for its retry. Its record's id. */
export async function stuck(admin: Admin): Promise<string> {
  admin.hub.channel("boxed-out").sends.failNext(1, new BridgeError("UNAVAILABLE", "the target is away"));
  admin.hub.publish("boxed", { id: "m1", subject: "boiler/7", orderingKey: "k", payload: "hot" });
  const signal = AbortSignal.timeout(10_000);
  for (;;) {
    const [head] = (await admin.supervisor.outbox()?.list({}, { limit: 1, offset: 0 }, signal)) ?? [];
    if (head !== undefined && head.attempts > 0) return head.id;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
