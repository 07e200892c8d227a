import {
  defineFactory,
  type DlqStore,
  type OutboxStore,
  type PluginContext,
  type Processor,
  type ProcessorPlugin,
  type Receiver,
  type Sender,
  type Session,
  type StorePlugin,
  type TransportPlugin,
} from "@bridge/ports";
import { describe, duration, integer, secret, text } from "@bridge/ports/options";
import * as v from "valibot";
import type { Registry } from "../../src/index.ts";

/** Validation builds nothing; a factory that is called all the same fails the test. */
function never(): never {
  throw new Error("validation must not build parts");
}

/** A transport of a broker: sessions, topics, and secrets in several forms. */
const broker: TransportPlugin = {
  type: "mqtt",
  session: defineFactory<v.GenericSchema, unknown, Session>({
    options: v.strictObject({
      broker_urls: describe(v.pipe(v.array(v.pipe(v.string(), v.url())), v.minLength(1)), "The brokers."),
      keep_alive: describe(v.optional(duration(), "60s"), "How often to say that we are there."),
      username: describe(v.optional(v.string()), "The user."),
      password: describe(v.optional(secret()), "The user's password."),
      tls: describe(
        v.optional(
          v.strictObject({
            ca_file: describe(v.optional(text()), "The authority."),
            passphrase: describe(v.optional(v.pipe(secret(), v.minLength(8))), "Opens the key."),
          }),
        ),
        "TLS.",
      ),
      will: describe(
        v.optional(v.union([v.literal("none"), v.strictObject({ topic: text(), qos: v.picklist([0, 1]) })])),
        "What the broker says when we are gone.",
      ),
    }),
    create: never,
  }),
  receiver: {
    ...defineFactory<v.GenericSchema, unknown, Receiver>({ options: v.strictObject({}), create: never }),
    needsSession: true,
    topics: "required",
    redelivers: "persistent-session",
    competing: (topic) => topic.startsWith("$share/"),
    topicProblem: (topic) => (topic.includes("#/") ? 'has a "#" that is not the last level' : undefined),
  },
  sender: {
    ...defineFactory<v.GenericSchema, unknown, Sender>({
      options: v.strictObject({
        qos: describe(v.optional(v.picklist([0, 1]), 1), "The quality of service."),
        headers: describe(v.optional(v.record(v.string(), secret()), {}), "Headers to add."),
      }),
      create: never,
    }),
    needsSession: true,
    addressProblem: (address) => (/^[a-z/]+$/.test(address) ? undefined : "is no topic to publish to"),
  },
};

/** A transport without sessions, whose schema speaks of the values it refuses. */
const web: TransportPlugin = {
  type: "http",
  receiver: {
    ...defineFactory<v.GenericSchema, unknown, Receiver>({
      options: v.strictObject({
        path: describe(v.optional(text()), "The path. Default: /ingest/<receiver id> | `<none>`."),
        broadcast: describe(v.optional(v.boolean()), "Whether each instance gets every message."),
      }),
      create: never,
    }),
    needsSession: false,
    topics: "refused",
    redelivers: "never",
    competing: (topic, options) =>
      topic === "" && !(options as { readonly broadcast?: boolean } | undefined)?.broadcast,
  },
  sender: {
    ...defineFactory<v.GenericSchema, unknown, Sender>({
      options: v.strictObject({
        url: describe(
          v.pipe(
            v.string(),
            v.check(
              (url) => url.startsWith("https://"),
              (issue) => `"${issue.input}" does not begin with https://`,
            ),
          ),
          "Where to send to.",
        ),
        bearer: describe(
          v.optional(
            v.pipe(
              secret(),
              v.check(
                (token) => !token.includes(" "),
                (issue) => `the token ${issue.input.slice(0, 12)} has a space`,
              ),
            ),
          ),
          "The token to send.",
        ),
        retries: describe(v.optional(integer(0, 5), 0), "How often to try again."),
      }),
      create: never,
    }),
    needsSession: false,
  },
};

/** A transport whose schema throws, as one with a bug does. */
const broken: TransportPlugin = {
  type: "broken",
  sender: {
    ...defineFactory<v.GenericSchema, unknown, Sender>({
      options: v.pipe(
        v.record(v.string(), v.unknown()),
        v.check(() => {
          throw new Error("a bug");
        }),
      ),
      create: never,
    }),
    needsSession: false,
  },
};

/** A processor whose schema depends on the value, and fails on any. */
const opaque: ProcessorPlugin = {
  type: "opaque",
  ...defineFactory<v.GenericSchema, PluginContext, Processor>({
    options: v.lazy((input) => {
      if (input !== undefined) throw new Error("a bug");
      return v.unknown();
    }),
    create: never,
  }),
};

const volatile: StorePlugin<DlqStore> = store("memory", "process");

function store<Store>(type: string, reach: "process" | "instance" | "cluster"): StorePlugin<Store> {
  return {
    type,
    reach,
    ...defineFactory({
      options: v.strictObject({
        acknowledge_volatile: describe(v.optional(v.boolean(), false), "Accept that it forgets."),
        path: describe(v.optional(text(), "dlq.db"), "The file."),
      }),
      create: (_options: unknown, _context: PluginContext) => never,
    }),
  };
}

const dlqStores = [volatile, store<DlqStore>("file", "instance"), store<DlqStore>("table", "cluster")];
const outboxStores = [store<OutboxStore>("file", "instance")];

const filter: ProcessorPlugin = {
  type: "filter",
  ...defineFactory<v.GenericSchema, PluginContext, Processor>({
    options: v.strictObject({ keep: describe(v.optional(text(), "*"), "What passes.") }),
    create: never,
  }),
};

const byType = <Plugin extends { readonly type: string }>(plugins: readonly Plugin[]): ReadonlyMap<string, Plugin> =>
  new Map(plugins.map((plugin) => [plugin.type, plugin]));

/** Everything that a configuration can ask for, stores for each role included. */
export const registry: Registry = {
  elsewhere: new Map(),
  transports: byType([broker, web, broken]),
  dlqStores: byType(dlqStores),
  leaseStores: new Map(),
  outboxStores: byType(outboxStores),
  processors: byType([filter, opaque]),
  stores: {
    dlq: byType(dlqStores),
    outbox: byType(outboxStores),
    lease: byType([store("table", "cluster")]),
  },
};
