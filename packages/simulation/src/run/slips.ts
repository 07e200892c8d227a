import { ConfigError } from "@bridge/config";
import { type JobOrder, JobRefusal, OperationError } from "@bridge/core";
import { BridgeError, type MarkChange } from "@bridge/ports";
import { changed } from "../plan/change.ts";
import type { Slip } from "../plan/draw-slips.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** A call is given up after this. */
const PATIENCE_MS = 30_000;
const NOWHERE = "nowhere";
const UNHURRIED = {
  rate: 10,
  concurrency: 1,
  ramp: [],
  rampPauseMs: 0,
  halt: { failureRatio: 1, minAttempts: 1, consecutive: 0 },
} as const;
const ORDER = { kind: "redrive", settings: UNHURRIED, reason: "a slip", actor: "operator" } as const;

/** No message here fails so. */
const NOTHING: JobOrder["query"] = { errorCode: "INTERNAL" };

/** One who asks for something that cannot be. */
interface Asker {
  readonly at: Instance;
  /** Of a dead letter that is there, if one is. */
  readonly id: string | undefined;
  readonly signal: AbortSignal;
}

/** Operators who slip, and are to be told so. */
export class Slips {
  readonly #world: World;
  #orders = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** `nth`: which dead letter it is about, counted from the oldest. */
  slip(instance: Instance | undefined, slip: Slip, nth: number): void {
    instance?.asked(() => {
      const { trace, time, dlq } = this.#world;
      const { owner, name } = instance;
      const patience = new AbortController();
      time.reach(owner, time.now + PATIENCE_MS, () => patience.abort(new Error("no patience")));
      const id = [...dlq.oldest(nth).keys()].at(-1);
      trace.add(`an operator ${slip} at ${name}`);
      this.#ask(slip, { at: instance, id, signal: patience.signal }).then(
        (wrong) => {
          if (owner.alive && wrong !== undefined) this.#violated(instance, `he who ${slip} is told ${wrong}`);
        },
        (error: unknown) => {
          if (owner.alive && !isRefusal(error, patience.signal))
            this.#violated(instance, `he who ${slip} is told ${String(error)}`);
        },
      );
    });
  }

  /** What he is told that he should not be. */
  async #ask(slip: Slip, { at, id, signal }: Asker): Promise<string | undefined> {
    const { supervisor } = at;
    switch (slip) {
      case "redrives what is not there": {
        const { redriven, failed, errors } = await supervisor.redrive([NOWHERE, NOWHERE], signal);
        return redriven === 0 && failed === 1 && errors.length === 1
          ? undefined
          : `${redriven} redriven, ${failed} failed`;
      }
      case "redrives one that is not there": {
        const { kind } = await supervisor.redriveEntry(NOWHERE, {}, signal);
        // Another one may be asking for the same.
        return kind === "missing" || kind === "busy" ? undefined : kind;
      }
      case "redrives what is quarantined":
        return this.#quarantined({ at, id, signal }, async (held) => {
          const { redriven } = await supervisor.redrive([held], signal);
          return redriven === 0 ? undefined : "redriven";
        });
      case "redrives one that is quarantined":
        return this.#quarantined({ at, id, signal }, async (held) => {
          const { kind } = await supervisor.redriveEntry(held, {}, signal);
          return kind === "redriven" ? kind : undefined;
        });
      case "asks for a job that is not there": {
        const jobs = supervisor.jobs();
        const told = await Promise.allSettled([
          jobs.get(NOWHERE, signal),
          jobs.change(NOWHERE, { rate: 1 }, signal),
          jobs.start(NOWHERE, { planHash: NOWHERE }, signal),
          ...(["pause", "resume", "cancel", "undo"] as const).map((call) => jobs.ask(NOWHERE, { call }, signal)),
        ]);
        for (const each of told) if (each.status === "rejected" && !isRefusal(each.reason, signal)) throw each.reason;
        return told.some(({ status }) => status === "fulfilled") ? "that it is done" : undefined;
      }
      case "lists jobs": {
        const jobs = supervisor.jobs();
        const first = await jobs.list({ states: "ended", limit: 2 }, signal);
        const last = first.jobs.at(-1);
        if (last === undefined) return undefined;
        const next = await jobs.list({ states: "ended", limit: 2, after: last }, signal);
        const isBehind = next.jobs.every(({ createdAt }) => createdAt <= last.createdAt);
        return isBehind && next.jobs.every((job) => job.id !== last.id) ? undefined : "the same job twice";
      }
      case "starts another plan": {
        const jobs = supervisor.jobs();
        const { job } = await jobs.plan({ ...ORDER, query: NOTHING }, signal);
        const told = await jobs.start(job.id, { planHash: NOWHERE }, signal).then(
          ({ state }) => state,
          (error: unknown) => {
            if (!isRefusal(error, signal)) throw error;
            return undefined;
          },
        );
        await jobs.ask(job.id, { call: "cancel" }, signal);
        return told;
      }
      case "plans for another binding": {
        const [route] = supervisor.config().routes;
        if (route === undefined) return undefined;
        const order = { ...ORDER, query: { routeId: route.id }, bindingId: NOWHERE };
        return (await supervisor.jobs().plan(order, signal)).job.id;
      }
      case "plans something else under the same key": {
        const idempotencyKey = `slip-${this.#orders++}`;
        const order: JobOrder = { ...ORDER, query: NOTHING, idempotencyKey };
        const { job } = await supervisor.jobs().plan(order, signal);
        await supervisor.jobs().ask(job.id, { call: "cancel" }, signal);
        return (await supervisor.jobs().plan({ ...order, reason: "another" }, signal)).job.id;
      }
      case "lets a send last as long as its lease": {
        const { document } = this.#world.plan;
        const policy = { send_timeout: document.bridge?.lease_ttl };
        try {
          at.configOf(changed(document, [{ what: "policy", policy }]));
        } catch (error) {
          if (error instanceof ConfigError) return undefined;
          throw error;
        }
        return "that it may";
      }
      case "injects where no route is":
        return (await supervisor.inject(NOWHERE, { payload: new Uint8Array() }, { signal })).outcome;
    }
  }

  /** Asks for an entry that he has quarantined, and lets it go again. */
  async #quarantined(
    { at, id, signal }: Asker,
    ask: (id: string) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const marks = at.supervisor.dlq()?.marks;
    if (id === undefined || marks === undefined) return undefined;
    const mark = (change: MarkChange) => marks.mark(new Map([[id, { ...change, at: at.clock.now() }]]), signal);
    const { letters } = this.#world.auditor.jobs;
    const before = letters.of(id)?.letGo;
    if (!(await mark({ quarantined: true })).has(id)) return undefined;
    letters.askedFor([id]);
    const told = await ask(id);
    const isHeld = letters.of(id)?.letGo === before;
    await mark({ quarantined: false });
    // Somebody else may have let it go meanwhile.
    return isHeld ? told : undefined;
  }

  #violated({ name }: Instance, words: string): void {
    this.#world.auditor.violated(`${name}: ${words}`);
  }
}

function isRefusal(error: unknown, signal: AbortSignal): boolean {
  if (error instanceof JobRefusal || error instanceof OperationError || BridgeError.is(error)) return true;
  return signal.aborted && error === signal.reason;
}
