import { expect, it } from "vitest";
import { Aftermath } from "../../src/transaction/aftermath.ts";

const store = (path: string) => ({ type: "file", options: { path } });
const tried = { stores: { outbox: store("b"), dlq: store("c") } };
const left = { version: 42, formerVersion: 41, leftStores: ["outbox", "dlq"], tried };

function taken(): Aftermath {
  const aftermath = new Aftermath();
  aftermath.tookBack(left);
  return aftermath;
}

it("what was left behind is told until each of its stores has run again, whoever has brought it into force", () => {
  const aftermath = taken();
  expect(aftermath.leftBehind).toMatch(/version 42 .* has stores.outbox and stores.dlq .* runs, version 41:/);
  aftermath.comesIntoForce({ version: 43, document: { stores: { outbox: store("a"), dlq: store("c") } } });
  expect(aftermath.leftBehind).toMatch(/version 42 .* has stores.outbox at .* runs, version 43:/);
  aftermath.comesIntoForce({ version: 44, document: { stores: { outbox: store("b") } } });
  expect(aftermath.leftBehind).toBeUndefined();
});

it("what was left behind is told over what has other stores, or none, and over what could not be brought into force", () => {
  const aftermath = taken();
  aftermath.comesIntoForce({ version: 43, document: { bridge: { id: "other" } } });
  const rolledBack = { status: "rolled_back", version: 43, error: "no" } as const;
  aftermath.ofCommit({ begun: true, result: rolledBack, differs: false }, tried);
  expect(aftermath.leftBehind).toMatch(/has stores.outbox and stores.dlq /);
  aftermath.ofCommit({ begun: true, result: { status: "committed", version: 44 }, differs: false }, tried);
  expect(aftermath.leftBehind).toBeUndefined();
});

it("what was taken back and has left nothing takes the place of nothing", () => {
  const aftermath = taken();
  aftermath.tookBack({ version: 45, formerVersion: 44 });
  expect(aftermath.leftBehind).toMatch(/version 42/);
});
