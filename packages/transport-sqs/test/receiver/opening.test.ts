import { describe, expect, test } from "vitest";
import { never } from "../support/parts.ts";
import { stage } from "../support/stage.ts";

describe("opening a receiver", () => {
  test.each([
    ["3", 3, true],
    ["2", 5, true],
    [4, 3, false],
  ])("maxReceiveCount %s and a replay cap of %i: warned is %s", async (maxReceiveCount, maxReplayAttempts, warned) => {
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead",
      maxReceiveCount,
    });
    await using place = await stage({ maxReplayAttempts, attributes: { RedrivePolicy } });
    await place.receiver.open?.(never());
    const fields = {
      queue_url: place.url,
      max_receive_count: Number(maxReceiveCount),
      max_replay_attempts: maxReplayAttempts,
    };
    expect(place.lines.map((line) => line.fields)).toEqual(warned ? [fields] : []);
  });

  test("of a queue without a redrive policy warns of nothing", async () => {
    await using place = await stage();
    await place.receiver.open?.(never());
    expect(place.lines).toEqual([]);
  });

  test("of a queue that is not there fails, and says what to do", async () => {
    await using place = await stage();
    const other = place.another({ queue_url: place.url.replace(/q$/, "nowhere") });
    await expect(other.open?.(never())).rejects.toThrow(
      /receiver "in": the queue .*nowhere cannot be looked at: QueueDoesNotExist: create the queue, or correct queue_url/,
    );
  });

  test("that is not allowed fails, and says what is needed", async () => {
    await using place = await stage();
    place.sqs.fault = () => ({ kind: "refuse", code: "AccessDeniedException", status: 403 });
    await expect(place.receiver.open?.(never())).rejects.toThrow(
      /AccessDeniedException: the receiver needs sqs:GetQueueAttributes, sqs:ReceiveMessage/,
    );
  });

  test("does not fail because SQS is away: the receiver goes on trying", async () => {
    await using place = await stage();
    place.sqs.fault = () => ({ kind: "refuse", code: "ServiceUnavailable", status: 503 });
    await place.receiver.open?.(never());
    expect(place.lines[0]?.message).toBe("the queue could not be looked at; the receiver goes on trying");
  });
});
