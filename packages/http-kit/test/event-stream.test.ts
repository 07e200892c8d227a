import fc from "fast-check";
import { expect, it } from "vitest";
import { EventStream, type StreamEvent } from "../src/index.ts";
import type { Show } from "../src/stream-body.ts";

const { signal } = new AbortController();
const event = fc.record({
  event: fc.constantFrom("message", "lost", "ünïcode"),
  data: fc.record({ text: fc.string() }),
});

/** What is written of the events that come together, and how often JSON was made of some. */
async function written(events: readonly StreamEvent[]): Promise<{ readonly text: string; readonly shows: number }> {
  const stream = new EventStream({
    events: async function* () {
      yield events;
    },
  });
  let shows = 0;
  const show: Show = async (data, { begin, end }) => {
    shows++;
    return Buffer.from(Array.from(data, (one, place) => begin(place) + JSON.stringify(one) + end).join(""));
  };
  const first = await stream.parts(show, signal, () => {}).next();
  return { text: first.done === true ? "" : Buffer.from(first.value).toString(), shows };
}

it("writes events that come together as each would be by itself", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event), async (events) => {
      const { text } = await written(events);
      expect(text).toBe(events.map((one) => `event: ${one.event}\ndata: ${JSON.stringify(one.data)}\n\n`).join(""));
    }),
  );
});

it("makes JSON of all that come together at once", async () => {
  const message = { event: "message", data: { n: 1 } };
  const { shows } = await written([message, message, message, { event: "lost", data: { count: 2 } }]);
  expect(shows).toBe(1);
});
