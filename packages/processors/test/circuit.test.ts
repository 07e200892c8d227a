import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  admit,
  afterSend,
  type Circuit,
  type CircuitPolicy,
  CLEAN,
  type SendSign,
  type Ticket,
} from "../src/circuit.ts";

const policy: CircuitPolicy = { failures: 3, openForMs: 1_000, probes: 2 };

/** One circuit, driven by hand. */
class Driver {
  circuit: Circuit = CLEAN;
  now = 0;
  readonly policy: CircuitPolicy;

  constructor(driven: CircuitPolicy = policy) {
    this.policy = driven;
  }

  /** The ticket of an admitted send, or how long a refused one has to wait. */
  ask(): Ticket | number {
    const decision = admit(this.circuit, this.now, this.policy);
    if (decision.kind === "refused") return decision.waitMs;
    this.circuit = decision.circuit;
    return decision.ticket;
  }

  send(sign: SendSign): void {
    const ticket = this.ask();
    if (typeof ticket === "number") throw new Error("refused");
    this.end(ticket, sign);
  }

  end(ticket: Ticket, sign: SendSign): void {
    this.circuit = afterSend(this.circuit, ticket, sign, this.now, this.policy);
  }
}

function ticketOf(asked: Ticket | number): Ticket {
  if (typeof asked === "number") throw new Error("refused");
  return asked;
}

describe("a circuit", () => {
  test("opens with so many failures in a row, and not with as many that a success parts", () => {
    const driver = new Driver();
    for (const sign of ["failure", "failure", "success", "failure", "none", "failure"] as const) driver.send(sign);
    expect(driver.circuit.kind).toBe("closed");
    driver.send("failure");
    expect(driver.circuit).toEqual({ kind: "open", until: 1_000 });
  });

  test("refuses while it is open, and says how long", () => {
    const driver = new Driver();
    for (let at = 0; at < 3; at++) driver.send("failure");
    expect(driver.ask()).toBe(1_000);
    driver.now = 999;
    expect(driver.ask()).toBe(1);
  });

  test("lets its probes through after that, and closes when all of them succeed", () => {
    const driver = new Driver();
    for (let at = 0; at < 3; at++) driver.send("failure");
    driver.now = 1_000;
    const [first, second] = [ticketOf(driver.ask()), ticketOf(driver.ask())];
    expect(driver.ask()).toBe(1_000);
    driver.end(first, "success");
    expect(driver.ask()).toBe(1_000);
    driver.end(second, "success");
    expect(driver.circuit).toBe(CLEAN);
  });

  test("opens again, for the whole time, when a probe fails", () => {
    const driver = new Driver();
    for (let at = 0; at < 3; at++) driver.send("failure");
    driver.now = 1_500;
    const [first, second] = [ticketOf(driver.ask()), ticketOf(driver.ask())];
    driver.end(first, "failure");
    expect(driver.circuit).toEqual({ kind: "open", until: 2_500 });
    driver.now = 2_500;
    const next = ticketOf(driver.ask());
    // A probe of the time before says nothing about this one.
    driver.end(second, "success");
    driver.end(next, "success");
    expect(driver.circuit).toMatchObject({ kind: "half_open", probing: 0, succeeded: 1 });
  });

  test("gives the place of a probe that was given up to another", () => {
    const driver = new Driver({ ...policy, probes: 1 });
    for (let at = 0; at < 3; at++) driver.send("failure");
    driver.now = 1_000;
    driver.end(ticketOf(driver.ask()), "none");
    driver.send("success");
    expect(driver.circuit).toBe(CLEAN);
  });

  test("sends that began before it opened change nothing when they end after that", () => {
    const driver = new Driver();
    const [slow, slower] = [ticketOf(driver.ask()), ticketOf(driver.ask())];
    for (let at = 0; at < 3; at++) driver.send("failure");
    const open = driver.circuit;
    driver.end(slow, "success");
    driver.end(slower, "failure");
    expect(driver.circuit).toBe(open);
  });
});

type Step =
  | { readonly do: "send" }
  | { readonly do: "end"; readonly which: number; readonly sign: SendSign }
  | { readonly do: "wait"; readonly ms: number };

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ do: "send" }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("end" as const),
        which: fc.nat(20),
        sign: fc.constantFrom<SendSign>("success", "failure", "failure", "none"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(1_500) }) },
  ),
  { maxLength: 200 },
);
const policies = fc.record({
  failures: fc.integer({ min: 1, max: 5 }),
  openForMs: fc.constantFrom(1, 500, 1_000),
  probes: fc.integer({ min: 1, max: 3 }),
});

describe("whatever happens to a circuit", () => {
  test("an open one admits nothing before its time, a half-open one no more than its probes, a closed one everything", () => {
    fc.assert(
      fc.property(policies, steps, (drawn, happening) => {
        const driver = new Driver(drawn);
        const going: Ticket[] = [];
        let openedAt: number | undefined;
        for (const step of happening) {
          const before = driver.circuit;
          if (step.do === "wait") driver.now += step.ms;
          if (step.do === "send") {
            const asked = driver.ask();
            if (before.kind === "closed") expect(asked).toEqual({ probeOf: undefined });
            if (before.kind === "open" && openedAt !== undefined) {
              const due = openedAt + drawn.openForMs;
              if (driver.now < due) expect(asked).toBe(due - driver.now);
              else expect(typeof asked).toBe("object");
            }
            if (typeof asked === "object") going.push(asked);
            else expect(asked).toBeGreaterThan(0);
          }
          if (step.do === "end" && going.length > 0) {
            const [ticket] = going.splice(step.which % going.length, 1);
            if (ticket !== undefined) driver.end(ticket, step.sign);
          }
          if (driver.circuit.kind === "open" && before.kind !== "open") openedAt = driver.now;
          const { circuit } = driver;
          if (circuit.kind === "half_open") {
            const probes = going.filter(({ probeOf }) => probeOf === circuit.episode).length;
            expect(circuit.probing).toBe(probes);
            expect(circuit.probing + circuit.succeeded).toBeLessThanOrEqual(drawn.probes);
          }
          if (circuit.kind === "closed") expect(circuit.failures).toBeLessThan(drawn.failures);
        }
      }),
    );
  });

  test("it closes again once every send succeeds", () => {
    fc.assert(
      fc.property(policies, steps, (drawn, happening) => {
        const driver = new Driver(drawn);
        const going: Ticket[] = [];
        for (const step of happening) {
          if (step.do === "wait") driver.now += step.ms;
          if (step.do === "send") {
            const asked = driver.ask();
            if (typeof asked === "object") going.push(asked);
          }
          if (step.do === "end" && going.length > 0) {
            const [ticket] = going.splice(step.which % going.length, 1);
            if (ticket !== undefined) driver.end(ticket, step.sign);
          }
        }
        for (const ticket of going) driver.end(ticket, "none");
        driver.now += drawn.openForMs;
        for (let at = 0; at < drawn.probes; at++) driver.send("success");
        expect(driver.circuit).toBe(CLEAN);
      }),
    );
  });
});
