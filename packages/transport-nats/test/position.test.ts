import { expect, test } from "vitest";
import { Position } from "../src/position.ts";

test("a position is known also where more waits to come again than a call takes arguments", () => {
  const position = new Position();
  position.in("created");
  const last = 300_000;
  for (let sequence = 1; sequence <= last; sequence++) position.handedOut(sequence);
  for (let sequence = last; sequence > 1; sequence--) position.released(sequence);
  expect(position.in("created")).toBe(2);
});
