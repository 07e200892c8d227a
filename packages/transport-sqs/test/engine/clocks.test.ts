import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { expect, test } from "vitest";
import { startBridge } from "../support/bridge.ts";
import { envelope, never, sender, until } from "../support/parts.ts";

const MINUTE_MS = 60_000;
const TOTAL = 60;

const of = (text: string) => envelope({ payload: Buffer.from(text) });

test.each([10, -10])(
  "finding 6.2: a clock that is %i minutes off at the start, and jumps while messages flow, costs none of them",
  async (minutes) => {
    await using sqs = await startStrictSqs();
    const [from, to] = [sqs.createQueue("from"), sqs.createQueue("to")];
    sqs.ahead = minutes * MINUTE_MS;
    await using publisher = sender({ queue_url: from });
    await using target = sender({ queue_url: to });
    const bridge = await startBridge({
      receiver: { queue_url: from },
      target: (message, signal) => target.send(message, "", signal),
      policy: { max_replay_attempts: 1, on_permanent_failure: "drop" },
    });
    const left = () => bridge.stats().legs.find(({ bindingId }) => bindingId === "to-out")!.dispositions;
    for (let sent = 0; sent < TOTAL; sent += 10) {
      // Forwards, back, and at last to where the machine's own clock is right.
      sqs.ahead = [minutes, 2 * minutes, -minutes, 0][Math.floor((sent / TOTAL) * 4)]! * MINUTE_MS;
      await Promise.all(Array.from({ length: 10 }, (_, i) => publisher.send(of(`m${sent + i}`), "", never())));
      await until(() => left().delivered === sent + 10);
    }
    expect(left()).toMatchObject({ delivered: TOTAL, dropped: 0, dead_lettered: 0, released: 0 });
    expect(new Set(sqs.queue(to).bodies).size).toBe(TOTAL);
    await bridge.shutdown();
  },
);

test("finding 6.2: a request that stays refused is made twice, and is no reason to give a message up", async () => {
  await using sqs = await startStrictSqs();
  const url = sqs.createQueue("q");
  await using target = sender({ queue_url: url });
  sqs.ahead = 10 * MINUTE_MS;
  sqs.fault = () => ({ kind: "refuse", code: "RequestTimeTooSkewed", status: 403 });
  await expect(target.send(of("a"), "", never())).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(sqs.calls).toHaveLength(2);
});

test("finding 6.2: what is refused for another reason is not made twice", async () => {
  await using sqs = await startStrictSqs();
  const url = sqs.createQueue("q");
  await using target = sender({ queue_url: url });
  sqs.fault = () => ({ kind: "refuse", code: "InvalidSignatureException", status: 403 });
  await expect(target.send(of("a"), "", never())).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
  expect(sqs.calls).toHaveLength(1);
});
