import { isOver, JobRefusal, OperationError } from "@bridge/core";
import { BridgeError } from "@bridge/ports";
import type { JobAsk, PlannedJob } from "../plan/planned-job.ts";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

/** Whoever hears nothing, or that it cannot be done now, asks again after this, so often. */
const AGAIN_MS = 4_000;
const TRIES = 6;
/** A call is given up after this. */
const PATIENCE_MS = 30_000;
/** When the faults are over: how often somebody looks after the jobs. */
const LOOK_MS = 5_000;

/** So that what is left is done soon, and no failure is in the way. */
const UNHINDERED = {
  rate: 1_000,
  concurrency: 16,
  ramp: [],
  rampPauseMs: 0,
  halt: { failureRatio: 1, minAttempts: 1, consecutive: 0 },
} as const;

/** Operators that plan jobs of the DLQ and ask things of them, at whichever instance there is. */
export class JobOperators {
  readonly #world: World;
  readonly #live: () => readonly Instance[];
  #orders = 0;
  /** Jobs that an operator has been told of. */
  readonly #ids: string[] = [];
  readonly #unhindered = new Set<string>();
  #calls = 0;

  constructor(world: World, live: () => readonly Instance[]) {
    this.#world = world;
    this.#live = live;
  }

  /** Whether every job that was begun has ended. */
  get done(): boolean {
    return this.#calls === 0 && this.#world.auditor.jobs.open.length === 0;
  }

  /** Several may ask for the same one, under one key. */
  plan(job: PlannedJob, callers: number): void {
    const key = `order-${this.#orders++}`;
    for (let caller = 0; caller < callers; caller++) {
      this.#ask(caller, `plans a ${job.kind}`, async ({ supervisor }, signal) => {
        const { starts, ...draft } = job;
        const order = { ...draft, query: {}, reason: "simulated", actor: "operator", idempotencyKey: key };
        const { job: made } = await supervisor.jobs().plan({ ...order, start: starts }, signal);
        if (!this.#ids.includes(made.id)) this.#ids.push(made.id);
        return made.id;
      });
    }
  }

  /** Of the job that was planned `nth` before the last one, at the latest. */
  ask({ call, nth }: JobAsk, callers: number): void {
    const id = this.#ids.at(-1 - Math.min(nth, this.#ids.length - 1));
    if (id === undefined) return;
    for (let caller = 0; caller < callers; caller++)
      this.#ask(caller, `asks ${id} for ${call.kind}`, async ({ supervisor }, signal) => {
        const jobs = supervisor.jobs();
        switch (call.kind) {
          case "start": {
            const { plan } = await jobs.get(id, signal);
            return (await jobs.start(id, { planHash: plan.hash, acceptChangedConfig: true }, signal)).state;
          }
          case "change":
            return (await jobs.change(id, call.settings, signal)).state;
          case "retry_failed":
            return (await jobs.ask(id, { call: "resume", retryFailed: true }, signal)).state;
          case "pause":
          case "resume":
          case "cancel":
          case "undo":
            return (await jobs.ask(id, { call: call.kind }, signal)).state;
        }
      });
  }

  /** The faults are over: whoever looks after the jobs lets go on what was held. What waits goes on by itself. */
  lookAfter(): void {
    const { time, auditor } = this.#world;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    if (this.#calls > 0) return;
    for (const { id, state, requested } of auditor.jobs.open) {
      if (state === "undoing" || isOver(state)) continue;
      if (!this.#unhindered.has(id))
        this.#ask(0, `lets ${id} go on unhindered`, async ({ supervisor }, signal) => {
          const job = await supervisor.jobs().change(id, UNHINDERED, signal);
          this.#unhindered.add(id);
          return job.state;
        });
      if ((state === "paused" || state === "halted") && requested === undefined)
        this.#ask(0, `asks ${id} for resume`, async ({ supervisor }, signal) => {
          const job = await supervisor.jobs().ask(id, { call: "resume" }, signal);
          return job.state;
        });
    }
  }

  #ask(
    caller: number,
    what: string,
    call: (instance: Instance, signal: AbortSignal) => Promise<string>,
    tries = TRIES,
  ): void {
    const { time, trace, auditor } = this.#world;
    this.#calls++;
    let over = false;
    const end = (again: boolean): void => {
      if (over) return;
      over = true;
      this.#calls--;
      if (again && tries > 1) time.at(time.now + AGAIN_MS, () => this.#ask(caller + 1, what, call, tries - 1));
    };
    const live = this.#live();
    const instance = live[caller % Math.max(1, live.length)];
    if (instance === undefined) return end(true);
    const patience = new AbortController();
    time.at(time.now + PATIENCE_MS, () => {
      if (instance.owner.alive) patience.abort(new Error("no patience"));
      end(true);
    });
    instance.asked(() => {
      if (over) return;
      trace.add(`an operator ${what} at ${instance.name}`);
      call(instance, patience.signal).then(
        (told) => {
          if (!instance.owner.alive) return;
          trace.add(`he who ${what} is told ${told}`);
          end(false);
        },
        (error: unknown) => {
          if (!instance.owner.alive) return;
          trace.add(`he who ${what} is told no: ${String(error)}`);
          if (!isExpected(error, patience.signal)) auditor.violated(`an operator who ${what} is told ${String(error)}`);
          end(!(error instanceof JobRefusal));
        },
      );
    });
  }
}

function isExpected(error: unknown, signal: AbortSignal): boolean {
  if (error instanceof JobRefusal) return error.reason !== "binding" && error.reason !== "key_reused";
  return error instanceof OperationError || BridgeError.is(error) || (signal.aborted && error === signal.reason);
}
