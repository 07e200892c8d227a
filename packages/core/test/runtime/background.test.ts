import { type LogFields, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { Background } from "../../src/runtime/background.ts";
import { TaskGroup } from "../../src/runtime/task-group.ts";
import { turn } from "../support/fake-clock.ts";

function telling() {
  const told: (LogFields | undefined)[] = [];
  const logger: Logger = { ...silentLogger, error: (_, fields) => void told.push(fields) };
  return { told, logger };
}

test("a background component runs until it is stopped, and that is no failure", async () => {
  const { told, logger } = telling();
  const run = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const component = new Background("receiver in", run, logger);
  await turn();
  expect([component.name, component.running, component.failure]).toEqual(["receiver in", true, undefined]);
  component.stop();
  await component.ended;
  expect([component.running, component.failure, told]).toEqual([false, undefined, []]);
});

test("what a component throws is its failure, and the log says where it came from", async () => {
  const error = new Error("no memory left");
  const [{ told, logger }, group] = [telling(), telling()];
  const component = new Background("receiver in", () => Promise.reject(error), logger);
  await component.ended;
  const failure = { component: "receiver in", error: "no memory left" };
  expect([component.running, component.failure]).toEqual([false, failure]);
  expect(told).toEqual([{ ...failure, stack: error.stack }]);

  const tasks = new TaskGroup(group.logger);
  tasks.spawn("drain r", () => Promise.reject(error));
  // What is no error has no place that it came from.
  tasks.spawn("route r", async () => {
    throw "a text" as unknown as Error;
  });
  tasks.spawn("route r, later", () => turn());
  expect(tasks.running).toEqual(["drain r", "route r", "route r, later"]);
  await tasks.join();
  expect([tasks.running, tasks.failures]).toEqual([
    [],
    [
      { component: "drain r", error: "no memory left" },
      { component: "route r", error: "a text" },
    ],
  ]);
  expect(group.told.map((fields) => fields?.["stack"])).toEqual([error.stack, undefined]);
});
