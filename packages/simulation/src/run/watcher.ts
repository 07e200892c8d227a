import type { BridgeConfig } from "@bridge/config";
import type { BridgeView, RouteView } from "@bridge/core";
import { type Fault, isMeasured } from "../plan/plan.ts";
import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import { withoutLeaseMs } from "./late-leases.ts";
import type { World } from "./world.ts";

const EVERY_MS = 1_000;
/** What an instance hears of in one second it may say in the next. */
const TOLD_MS = 1_000;
/** A progress may say what was so for this long, beyond twice the `send_timeout`: it is looked at no more often. */
const LOOKED_MS = 3_000;
/** A failure is news for a minute; so many of them in a row, and one that was cancelled does not count. */
const NEWS_MS = 50_000;
const FAILURES = 4;
/**
 * When nothing has gone wrong for this long everything is up again: pauses between attempts to connect take up to 39 s, those of
 * a policy up to 40 s, an attempt that came to nothing a minute, and a lease of 60 s lapses before another takes it.
 */
const CALM_MS = 150_000;
const PATIENT_MS = 5_000;
/** A broker that is left takes a while to hear of that. */
const CLOSED_MS = 10_000;

const UNSEEN = { lostAt: undefined, pausedAt: undefined, downAt: undefined };

/** What an instance was seen to be, and since when. */
interface Seen {
  readonly beganAt: number;
  state: BridgeView["state"];
  config: BridgeConfig;
  /** How often it had been asked to stop. */
  stops: number;
  /** Since when it is in this state, with this configuration. */
  since: number;
  /** Since when it knows that it has no connection to the broker. */
  lostAt: number | undefined;
  pausedAt: number | undefined;
  /** Since when it is not up. */
  downAt: number | undefined;
}

/**
 * Asks each instance once a second for its level, its health and how its routes get on, and holds that against what the edges
 * know: nothing of it may be false for longer than it takes to notice. Invariant 7.
 */
export class Watcher {
  readonly #world: World;
  readonly #instances: Instances;
  readonly #seen = new Map<Instance, Seen>();
  readonly #measured: boolean;
  readonly #told = new Set<string>();
  /** When the last fault was over that has begun by now. */
  #disturbedUntil = 0;

  constructor(world: World, instances: Instances) {
    this.#world = world;
    this.#instances = instances;
    this.#measured = isMeasured(world.plan);
  }

  begin(): void {
    const { time } = this.#world;
    time.at(time.now + EVERY_MS, () => {
      if (!this.#instances.reloads.done || !this.#instances.commits.done) this.#disturbed(time.now);
      for (const instance of this.#instances.live) this.#look(instance);
      this.begin();
    });
  }

  /** An instance ends: whoever waits for what it had needs a while to get that. */
  ends(): void {
    this.#disturbed(this.#now);
  }

  /** A fault begins. */
  disturbs(fault: Fault): void {
    const noticedMs = "noticedAfterMs" in fault ? fault.noticedAfterMs : 0;
    this.#disturbed(this.#now + fault.forMs + noticedMs);
  }

  #disturbed(until: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, until);
  }

  #look(instance: Instance): void {
    const { owner, supervisor } = instance;
    if (owner.frozen !== undefined) return;
    if (this.#world.lateCalls.tooMany(owner)) this.#disturbed(this.#now);
    const view = supervisor.view();
    const seen = this.#follow(instance, view);
    this.#connection(instance, view, seen);
    this.#role(instance, view);
    this.#health(instance, view, seen);
    for (const route of view.routes) this.#progress(instance, route, seen);
    this.#calm(instance, view, seen);
  }

  #follow(instance: Instance, { state }: BridgeView): Seen {
    const { sends, time, plan } = this.#world;
    const { owner, supervisor, connections, thawedAt, stops } = instance;
    const { now } = time;
    const config = supervisor.config();
    const fresh = { beganAt: now, state, config, stops, since: now, ...UNSEEN };
    const seen: Seen = this.#seen.get(instance) ?? fresh;
    this.#seen.set(instance, seen);
    // A stop and a start may lie between two looks.
    if (seen.state !== state || seen.config !== config || seen.stops !== stops || thawedAt > seen.since) {
      Object.assign(seen, { state, config, stops, since: now, lostAt: undefined });
      sends.anew(owner);
    }
    // What was on its way when its source took it back has not failed.
    if (connections === 0 && plan.callers === undefined) sends.anew(owner);
    seen.lostAt = connections === 0 ? (seen.lostAt ?? now) : undefined;
    seen.pausedAt = owner.paused === true ? (seen.pausedAt ?? now) : undefined;
    return seen;
  }

  /** Whoever knows that the connection is lost says so. */
  #connection({ name }: Instance, { sessions, level, role }: BridgeView, { lostAt = Infinity }: Seen): void {
    const session = sessions.find(({ sessionId }) => sessionId === "session");
    const lostMs = this.#now - lostAt;
    if (session === undefined || lostMs < TOLD_MS) return;
    const says = session.connected
      ? "its session is connected"
      : level === "full" && role !== "standby" && "it is full";
    if (says !== false) this.#violated(`${name} says that ${says}, and has had no connection for ${seconds(lostMs)}`);
  }

  /** It is active only while nobody else has the lease. */
  #role({ name }: Instance, { role, level }: BridgeView): void {
    const { leases } = this.#world;
    const { holder = "" } = leases;
    if (role === "active" && holder !== name && holder !== "" && this.#measured)
      this.#violated(`${name} says that it is active while ${holder} has the lease`);
    if (role === "standby" && level === "full") this.#violated(`${name} says that it is full, and is a standby`);
  }

  /** No edge that is away makes it unhealthy, only a processor that does not end; and what does not run has left its edges. */
  #health(instance: Instance, { health, state, failures }: BridgeView, { since }: Seen): void {
    const { name, supervisor, connections, owner } = instance;
    if (supervisor.beyondRecovery()) return;
    const standsStill = this.#world.lateCalls.tooMany(owner) && failures.every(({ error }) => /do not end/.test(error));
    if (!standsStill && (health === "unhealthy" || (state === "running" && health !== "ok")))
      this.#violated(`${name} says that it is ${health} (${failures.map(({ component }) => component).join(", ")})`);
    if (state !== "paused") return;
    if (connections > 0 && this.#now - since > CLOSED_MS)
      this.#violated(`${name} says that it is ${health}, and has a connection to the broker`);
    for (const { open } of this.#world.sends.of(owner).values())
      for (const send of open) if (send.since > since) this.#violated(`${name} says that it is ${health}, and sends`);
  }

  #progress({ name, owner, supervisor }: Instance, { id, progress: told }: RouteView, { since, pausedAt }: Seen): void {
    const { sends, time, plan } = this.#world;
    const { now } = time;
    if (told === undefined) return;
    const { progress, reason = "" } = told;
    const says = `${name} says that ${id} is ${progress}${reason === "" ? "" : ` (${reason})`}`;
    if (pausedAt !== undefined && now - pausedAt >= TOLD_MS && !reason.includes("paused"))
      this.#violated(`${says} while it is paused`);
    const sendTimeoutMs = supervisor.config().routes.find((route) => route.id === id)?.policy.sendTimeoutMs ?? 0;
    const standstillMs = 2 * sendTimeoutMs + LOOKED_MS;
    for (const [binding, seen] of sends.of(owner)) {
      const { open, failures, firstFailureAt, lastFailureAt } = seen;
      for (const send of open)
        if (progress === "idle" && send.since > since && now - send.since >= TOLD_MS)
          this.#violated(`${says}, and sends to ${binding} for ${seconds(now - send.since)}`);
      // Where one failure ends a message, each send comes to something.
      const isTriedAgain = plan.maxReplayAttempts > 1;
      const inVain = isTriedAgain && failures >= FAILURES && now - lastFailureAt < NEWS_MS && this.#isHeld;
      // After the last of them there may have been nothing to do, for which no route is worse.
      const inVainMs = lastFailureAt - firstFailureAt;
      if (
        inVain &&
        lastFailureAt - Math.max(since, firstFailureAt) > standstillMs &&
        (progress === "idle" || progress === "moving")
      )
        this.#violated(`${says}, and nothing came of ${failures} sends to ${binding} in ${seconds(inVainMs)}`);
    }
  }

  /** Whether all that it sends is its own until it has ended: no source takes anything back while it is worked on. */
  get #isHeld(): boolean {
    const { broker, callers, outbox, instances = 1 } = this.#world.plan;
    // Where instances share an outbox, what others deliver of its records counts for it as well.
    if (outbox !== undefined) return instances === 1;
    return broker.loanMs === undefined && callers === undefined;
  }

  /** When nothing has gone wrong for long enough, everything is up. */
  #calm({ name, supervisor, thawedAt }: Instance, view: BridgeView, seen: Seen): void {
    const { level, role, health, state, routes } = view;
    const full = routes.some(({ progress }) => /is full/.test(progress?.reason ?? ""));
    const isUp = level === "full" || (level === "subscribed" && (full || role === "standby"));
    seen.downAt = isUp ? undefined : (seen.downAt ?? this.#now);
    const quietMs = this.#now - Math.max(this.#disturbedUntil, seen.beganAt, thawedAt);
    if (quietMs < CALM_MS || supervisor.beyondRecovery() || supervisor.ending.aborted) return;
    const isLate = seen.downAt !== undefined && this.#now - seen.downAt < withoutLeaseMs(this.#world.plan);
    if ((!isUp && !isLate) || health !== "ok")
      this.#violated(
        `${name} says that it is ${health} and ${level}, as ${role}, ${state}, after ${seconds(quietMs)} of calm`,
      );
    const { moody, moodyAt } = this.#world.target;
    if (moody || this.#now - moodyAt < CALM_MS) return;
    for (const { id, progress } of routes)
      if (progress?.progress === "stalled" && this.#isPatient(supervisor.config(), id))
        this.#violated(`${name} says that ${id} is stalled (${progress.reason}) after ${seconds(quietMs)} of calm`);
  }

  /** Whether a route waits longer than the ways to its edges may take. */
  #isPatient({ routes }: BridgeConfig, id: string): boolean {
    return routes.some((route) => route.id === id && route.policy.sendTimeoutMs >= PATIENT_MS);
  }

  get #now(): number {
    return this.#world.time.now;
  }

  #violated(words: string): void {
    // What is false is false for many seconds.
    const what = words.replace(/[\d.]+ (s|sends)\b/g, "");
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.#world.auditor.violated(words);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
