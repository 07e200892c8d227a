import {
  type Clock,
  type Envelope,
  type Factory,
  type Logger,
  type PluginContext,
  type Processor,
  silentLogger,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import * as v from "valibot";

/** A signal that keeps a broken test from hanging. */
export function bound(): AbortSignal {
  return AbortSignal.timeout(30_000);
}

export function envelopeOf(changes: Partial<Envelope> = {}): Envelope {
  return {
    id: "m1",
    sourceId: "in",
    subject: "plant/7",
    contentType: "",
    headers: {},
    payload: new Uint8Array(),
    correlationId: "c1",
    receivedAt: 1_000,
    ...changes,
  };
}

export function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

export function text(payload: Uint8Array | undefined): string {
  return new TextDecoder().decode(payload);
}

export interface Surroundings {
  readonly clock?: Clock;
  readonly logger?: Logger;
}

export function contextOf({ clock = systemClock, logger = silentLogger }: Surroundings = {}): PluginContext {
  return { id: "p", clock, random: systemRandom(), logger };
}

/** A processor as the configuration would make it; it goes with the scope. */
export function make(
  plugin: Factory<PluginContext, Processor>,
  options: unknown,
  surroundings?: Surroundings,
): Processor & AsyncDisposable {
  const processor = plugin.create(v.parse(plugin.options, options), contextOf(surroundings));
  return Object.assign(processor, {
    [Symbol.asyncDispose]: processor[Symbol.asyncDispose]?.bind(processor) ?? (async () => {}),
  });
}
