import { ConfigError } from "@bridge/config";
import type { DeadLetter } from "@bridge/ports";
import { memory } from "@bridge/transport-memory";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type BridgeHooks,
  createSupervisor,
  defineBridge,
  type MessageHead,
  type Progress,
  type StateChange,
  type SupervisorState,
} from "../../src/index.ts";
import { bound, dlq } from "./support.ts";

describe("hooks of a bridge in code", () => {
  test("may be an instance of a class, with fields of its own", async () => {
    class Told {
      states: string[] = [];
      onState({ to }: StateChange): void {
        this.states.push(to);
      }
    }
    const inside = memory();
    const hooks = new Told();
    const routes = { copy: { from: inside.channel("in"), to: inside.at("out") } };
    const supervisor = await defineBridge({ id: "b", stores: { dlq }, routes, hooks }).start({ signal: bound() });
    await supervisor.shutdown();
    expect(hooks.states).toContain("running");
    const broken = Object.assign(new Told(), { onProgress: 5 }) as unknown as BridgeHooks;
    expect(() => defineBridge({ id: "b", stores: { dlq }, routes, hooks: broken })).toThrow(
      "hooks.onProgress: is a number: give it a function",
    );
  });

  test("are told what happens, and are no part of the document", async () => {
    const inside = memory();
    const told: StateChange[] = [];
    const routes = { copy: { from: inside.channel("in"), to: inside.at("out") } };
    const defined = defineBridge({
      id: "b",
      stores: { dlq },
      routes,
      hooks: {
        onState(change, { signal }) {
          expectTypeOf(change.to).toEqualTypeOf<SupervisorState["kind"]>();
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
          told.push(change);
        },
        async onDeadLetter(entry) {
          expectTypeOf(entry.errorCode).toEqualTypeOf<DeadLetter["errorCode"]>();
          expectTypeOf(await entry.load()).toEqualTypeOf<DeadLetter | undefined>();
          // @ts-expect-error the payload is not there before it is loaded
          void entry.envelope;
        },
        onAttemptFailed({ route, binding, message, error, attempt }) {
          expectTypeOf(route).toEqualTypeOf<string>();
          expectTypeOf(binding).toEqualTypeOf<string | undefined>();
          expectTypeOf(message).toEqualTypeOf<MessageHead>();
          expectTypeOf(error).toEqualTypeOf<Error>();
          expectTypeOf(attempt).toEqualTypeOf<number>();
        },
        onProgress: ({ to, reason }) => [
          expectTypeOf(to).toEqualTypeOf<Progress>(),
          expectTypeOf(reason).toEqualTypeOf<string | undefined>(),
        ],
      },
    });
    expect(defined.document()).toEqual(defineBridge({ id: "b", stores: { dlq }, routes }).document());
    const supervisor = await defined.start({ signal: bound() });
    await supervisor.shutdown();
    expect(told.map(({ to }) => to)).toEqual(["starting", "running", "shutting_down"]);
    expect(supervisor.stats().hooks).toMatchObject([{ hook: "onDeadLetter" }, {}, { hook: "onState", calls: 3 }, {}]);
  });

  test("that are none are a problem at their place in the definition", () => {
    // @ts-expect-error a hook is a function
    const hooks: BridgeHooks = { onState: "log", onDead: undefined };
    const inside = memory();
    const routes = { copy: { from: inside.channel("in"), to: inside.at("out") } };
    expect(() => defineBridge({ id: "b", stores: { dlq }, routes, hooks })).toThrow(ConfigError);
    expect(() => defineBridge({ id: "b", stores: { dlq }, routes, hooks })).toThrow(
      /hooks\.onState.*is a string: give it a function[^]*hooks\.onDead.*no hook/,
    );
  });

  class Quiet {
    states = 0;
  }
  test.each([
    [1, "a number"],
    [null, "null"],
    ["onState", "a string"],
    [() => {}, "a function"],
    [new Map([["onState", () => {}]]), "a Map without a hook"],
    [[() => {}], "an array without a hook"],
    [Promise.resolve({ onState() {} }), "a Promise without a hook"],
    [new Quiet(), "an object without a hook"],
  ])("what holds none is refused, not taken for none: %o", (given: unknown, kind) => {
    const inside = memory();
    const hooks = given as BridgeHooks;
    const routes = { copy: { from: inside.channel("in"), to: inside.at("out") } };
    const { config, registry } = defineBridge({ id: "b", stores: { dlq }, routes });
    const why = `is ${kind}: give it an object with functions under these names: onDeadLetter, onAttemptFailed`;
    expect(() => defineBridge({ id: "b", stores: { dlq }, routes, hooks })).toThrow(`hooks: ${why}`);
    expect(() => createSupervisor({ config, registry, hooks })).toThrow(`hooks ${why}`);
  });
});
