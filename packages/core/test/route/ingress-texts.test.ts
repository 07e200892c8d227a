import { RESERVED } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { INGRESS_LIMITS, normalise } from "../../src/route/ingress.ts";
import { FakeClock } from "../support/fake-clock.ts";

const context = { sourceId: "in", clock: new FakeClock(), random: { next: () => 0.5, id: () => "minted" } };
const payload = new Uint8Array([1, 2, 3]);

interface Text {
  readonly given: string;
  /** What is kept of it where a part is better than nothing. */
  readonly mended: string;
  readonly fault?: "halved" | "too long";
}

const EMPTY: Text = { given: "", mended: "" };
const TOO_LONG = "too long";

/** A text of a message: sound, or with a fault. `most`: so many characters are allowed. */
function textOf(name: string, most?: number): fc.Arbitrary<Text> {
  const sound = `${name} \u{1f600}`;
  const texts: Text[] = [{ given: sound, mended: sound }, EMPTY];
  texts.push({ given: `${name} \ud83d`, mended: `${name} \ufffd`, fault: "halved" });
  if (most !== undefined) {
    const longest = name.padEnd(most, "l");
    texts.push({ given: longest, mended: longest }, { given: `${longest}l`, mended: longest, fault: TOO_LONG });
    // The last character that fits has its other half beyond the limit.
    const across = name.padEnd(most - 1, "l");
    texts.push({ given: `${across}\u{1f600}`, mended: `${across}\ufffd`, fault: TOO_LONG });
  }
  const [first = EMPTY, ...others] = texts;
  return fc.oneof({ arbitrary: fc.constant(first), weight: 6 }, fc.constantFrom(...others));
}

const IDS = { id: "id", dedupId: "deduplication id", orderingKey: "ordering key", correlationId: "correlation id" };
const id = (name: string) => textOf(name, INGRESS_LIMITS.idLength);
const message = fc.record({
  id: id("id"),
  subject: textOf("subject", INGRESS_LIMITS.subjectLength),
  contentType: textOf("contentType", INGRESS_LIMITS.contentTypeLength),
  correlationId: id("correlationId"),
  dedupId: id("dedupId"),
  orderingKey: id("orderingKey"),
});

test("what is wrong with one text of a message costs no other one", () => {
  fc.assert(
    fc.property(message, (drawn) => {
      // The identity of who gives no id is its deduplication id.
      const texts = { ...drawn, id: drawn.id === EMPTY ? drawn.dedupId : drawn.id };
      const all = new Map<string, Text>(Object.entries(texts));
      const tooLong = Object.entries(IDS).find(([name]) => all.get(name)?.fault === TOO_LONG)?.[1];
      /** A part of it might be another message's. */
      const identity = ({ fault, given }: Text): string => (fault === undefined ? given : "");

      const given = Object.fromEntries(Object.entries(drawn).map(([name, text]) => [name, text.given]));
      const { envelope, error } = normalise({ subject: drawn.subject.given, ...given, payload }, context);
      const known = identity(texts.id) || "minted";
      expect(envelope).toMatchObject({
        id: known,
        subject: texts.subject.mended,
        contentType: texts.contentType.mended,
        correlationId: texts.correlationId.mended || known,
      });
      const headers = {
        [RESERVED.generatedId]: known === "minted" ? "true" : "",
        [RESERVED.dedupId]: identity(texts.dedupId),
        [RESERVED.orderingKey]: identity(texts.orderingKey),
      };
      expect({ ...envelope.headers }).toEqual(Object.fromEntries(Object.entries(headers).filter(([, value]) => value)));

      const halves = [...all].filter(([, { fault }]) => fault === "halved");
      const cut = Object.entries({ "content type": texts.contentType, subject: texts.subject });
      const above = cut.find(([, { fault }]) => fault === TOO_LONG)?.[0] ?? tooLong;
      const faults = halves.map(([name]) => name).join(", ");
      if (faults !== "") expect(error?.message).toContain(` stands in ${faults} of the message,`);
      else if (above !== undefined)
        expect(error?.message).toMatch(new RegExp(`^the ${above} of the message is above the limit of \\d+$`, "u"));
      else expect(error).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});
