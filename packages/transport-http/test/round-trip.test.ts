import { type Envelope, RESERVED } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openReceiver } from "./support/open-receiver.ts";
import { buildSender, envelope, never } from "./support/open-sender.ts";

// Control characters cannot travel in a header, and HTTP trims its values.
const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .map((value) => value.replace(/\p{Cc}/gu, "·").trim())
  .filter((value) => value !== "");
const name = fc.stringMatching(/^[a-z][a-z0-9._-]{0,10}$/).map((value) => `x-${value}`);

const message: fc.Arbitrary<Envelope> = fc
  .record({
    id: text,
    subject: text,
    contentType: text,
    correlationId: text,
    orderingKey: text,
    payload: fc.uint8Array({ maxLength: 2_000 }),
    expiresAt: fc.integer({ min: 0, max: 4e12 }),
    headers: fc.dictionary(name, text, { maxKeys: 8 }),
  })
  .map(({ orderingKey, headers, ...fields }) =>
    envelope({ ...fields, headers: { ...headers, [RESERVED.orderingKey]: orderingKey } }),
  );

test("a message that one bridge sends is the message that another receives", async () => {
  await using source = await openReceiver();
  await using sender = await buildSender({ url: source.url });
  const received = source.acceptAll();
  await fc.assert(
    fc.asyncProperty(message, async (sent) => {
      await sender.send(sent, "", never());
      const arrived = received.at(-1);
      const { [RESERVED.orderingKey]: orderingKey, ...headers } = sent.headers;
      expect(arrived).toMatchObject({
        id: sent.id,
        dedupId: sent.id,
        subject: sent.subject,
        contentType: sent.contentType,
        correlationId: sent.correlationId,
        orderingKey,
        expiresAt: sent.expiresAt,
      });
      expect(arrived?.headers).toMatchObject(headers);
      expect(Buffer.from(arrived?.payload ?? []).equals(sent.payload)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
