import { inspect } from "node:util";
import { BridgeError, type Delivery, type Receiver } from "@bridge/ports";
import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { describe, expect, test } from "vitest";
import { ACCEPT, envelope, type Line, never, receiver, rememberingLogger, sender, take } from "./support/parts.ts";

const SECRET = "the-payload-4711";
const BODIES = [
  "",
  SECRET,
  `<html>${SECRET}</html>`,
  `{"Messages":[{"Body":"${SECRET}"`,
  `"${SECRET}"`,
  "null",
  `["${SECRET}"]`,
  `{"Messages":"${SECRET}"}`,
  `{"Messages":{"Body":"${SECRET}"}}`,
  `{"Messages":[null]}`,
  `{"Messages":[{"Body":"${SECRET}"}]}`,
  `{"Messages":[{"ReceiptHandle":"r","Body":{"text":"${SECRET}"}}]}`,
  `{"Messages":[{"ReceiptHandle":7,"Body":"${SECRET}"}]}`,
  `{"Successful":"${SECRET}"}`,
  `{"Successful":[null],"Failed":[null]}`,
  `{"Successful":[{"Id":{"text":"${SECRET}"}}],"Failed":{"Id":"${SECRET}"}}`,
  `{"Successful":[{"Id":"0","MessageId":"m"}],"Failed":[{"Id":"0","Code":"${SECRET}","SenderFault":true}]}`,
  `{"Successful":[{"Id":"0","MessageId":"m"}],"Failed":[{"Id":"0","Code":"InvalidParameterValue"}]}`,
  `{"Failed":[{"Id":"0","Code":{"text":"${SECRET}"},"SenderFault":true}]}`,
  `{"Failed":[{"Id":"0","Code":"${SECRET}","Message":"${SECRET}","SenderFault":true}]}`,
  `{"__type":"${SECRET}","message":"${SECRET}"}`,
  `{"__type":{"text":"${SECRET}"}}`,
  `<ErrorResponse><Error><Code>AccessDenied</Code><Message>${SECRET}</Message></Error></ErrorResponse>`,
  "[".repeat(20_000),
  `{"Attributes":"${SECRET}"}`,
  `{"Attributes":{"RedrivePolicy":"${SECRET}"}}`,
  `{"Attributes":{"RedrivePolicy":{"maxReceiveCount":"${SECRET}"}}}`,
];
const shown = (value: unknown): string => inspect(value, { depth: 12, showHidden: true });

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error ?? "nothing",
  );
}

/** The next delivery; a source that is lost is asked again, as the engine does it. */
async function deliveryOf(source: Receiver, errors: unknown[]): Promise<Delivery> {
  for (;;) {
    try {
      return (await take(source.receive(never())[Symbol.asyncIterator](), 1))[0]!;
    } catch (error) {
      errors.push(error);
    }
  }
}

describe.concurrent.each(BODIES.map((body) => [body.slice(0, 80), body]))(
  "finding 6.15: an answer of %s",
  (_, body) => {
    test.each([200, 302, 400, 403, 404, 500])("with status %i hurts nobody, and is shown nowhere", async (status) => {
      await using sqs = await startStrictSqs();
      const url = sqs.createQueue("q");
      const lines: Line[] = [];
      const errors: unknown[] = [];
      await using target = sender({ queue_url: url });
      await using source = receiver({ queue_url: url }, { logger: rememberingLogger(lines) });
      // The first answer to each of its actions is broken.
      const seen = new Set<string>();
      sqs.fault = ({ action }) => (seen.size < seen.add(action).size ? { kind: "answer", body, status } : undefined);

      await source.open?.(never());
      const failed = await failureOf(target.send(envelope({ payload: Buffer.from("a") }), "", never()));
      expect(failed).toMatchObject({ class: "transient" });
      errors.push(failed);
      await target.send(envelope({ payload: Buffer.from("a") }), "", never());

      const released = await deliveryOf(source, errors);
      errors.push(await failureOf((async () => released.settle({ kind: "release", delayMs: 0 }))()));
      sqs.lapse(url);
      const held = await deliveryOf(source, errors);
      await held.settle(ACCEPT);
      expect(sqs.queue(url).bodies).toEqual([]);
      expect(errors.every((error) => error === undefined || BridgeError.is(error))).toBe(true);
      expect(shown(errors) + shown(lines)).not.toContain(SECRET);
    });
  },
);
