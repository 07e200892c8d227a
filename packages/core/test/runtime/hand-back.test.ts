import { expect, test } from "vitest";
import { handBack } from "../../src/runtime/hand-back.ts";
import type { RouteRunner } from "../../src/runtime/route-runner.ts";
import { NO_PARTS, type RuntimeParts } from "../../src/runtime/runtime-parts.ts";

/** What became of a receiver and of the session under it, with which of them is still at work. */
function handedBack({ receiver, session }: { readonly receiver: boolean; readonly session: boolean | undefined }) {
  const done: string[] = [];
  const intake = { restart: () => void done.push("asked anew") };
  const link = { cut: () => void done.push("another connection") };
  const runner = { parts: { intake, sourceLink: session === undefined ? undefined : link } } as unknown as RouteRunner;
  handBack([runner], {
    ...NO_PARTS,
    intakes: new Map(receiver ? [["receiver in", intake]] : []),
    links: new Map(session === true ? [["link s", link]] : []),
  } as unknown as RuntimeParts);
  return done;
}

test.each([
  ["a source without a session is asked anew", { receiver: true, session: undefined }, ["asked anew"]],
  [
    "one over a session has another connection, too",
    { receiver: true, session: true },
    ["asked anew", "another connection"],
  ],
  ["a session that has gone with the change has none", { receiver: true, session: false }, ["asked anew"]],
  ["a receiver that has gone with it is left alone", { receiver: false, session: true }, []],
])("what a route has abandoned comes again: %s", (_, given, done) => {
  expect(handedBack(given)).toEqual(done);
});

test("a link that has no connection to cut is left as it is", () => {
  const intake = { restart: () => {} };
  const link = { cut: undefined };
  const parts = { ...NO_PARTS, intakes: new Map([["receiver in", intake]]), links: new Map([["link s", link]]) };
  const runner = { parts: { intake, sourceLink: link } } as unknown as RouteRunner;
  expect(() => handBack([runner], parts as unknown as RuntimeParts)).not.toThrow();
});
