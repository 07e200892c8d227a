import { clientTlsSchema, maxMessageBytes } from "@bridge/ports/internal";
import { bothOrNone, conditional, describe, duration, integer, matching, secret, text } from "@bridge/ports/options";
import * as v from "valibot";
import { serverUrlProblem } from "./server-url.ts";
import { filterProblem, MAX_SUBJECT_BYTES, nameProblem } from "./subject.ts";

const MIN_PING_INTERVAL_MS = 500;
const MAX_PING_INTERVAL_MS = 120_000;
/** The engine gives an attempt to connect up after a minute. */
const MAX_CONNECT_TIMEOUT_MS = 55_000;
const MIN_ACK_WAIT_MS = 500;
const MAX_ACK_WAIT_MS = 24 * 3_600_000;
/** A stream or consumer's name is a part of subjects. */
const MAX_NAME_BYTES = 255;
const SEED = /^SU[A-Z2-7]{56}$/;
const CREDS =
  /-----BEGIN NATS USER JWT-----\s+[\w.-]+\s+-+END NATS USER JWT-+[\s\S]*-----BEGIN USER NKEY SEED-----\s+SU[A-Z2-7]{56}\s+-+END USER NKEY SEED-+/;
const DEFAULT_ACK_WAIT_MS = 30_000;
/** A consumer that is there already is as its maker wants it. */
const OF_CONSUMERS_MADE = ["filter_subject", "deliver", "ack_wait", "max_ack_pending"] as const;

const serverUrl = checked(
  v.pipe(
    v.string("expected a server's address"),
    v.metadata({ pattern: "^\\s*([Nn][Aa][Tt][Ss]|[Tt][Ll][Ss])://(:?@)?[^/?#@\\s]+/?\\s*$" }),
  ),
  serverUrlProblem,
);

/** Each of these says who the bridge is; one is enough. */
const CREDENTIALS = ["username", "token", "nkey_seed", "creds"] as const;

export const sessionOptions = v.pipe(
  v.strictObject({
    servers: describe(
      v.pipe(v.array(serverUrl, "expected a list of addresses"), v.minLength(1, "name at least one server")),
      'Addresses of the servers of one cluster, such as "nats://host:4222" or "tls://host:4222", tried in turn.',
    ),
    username: describe(v.optional(text()), "The user name of the bridge at the server."),
    password: describe(v.optional(secret()), "The password of `username`."),
    token: describe(v.optional(secret()), "A token of the server, instead of a user."),
    nkey_seed: describe(
      v.optional(
        v.pipe(
          secret(),
          v.check(
            (seed) => SEED.test(seed.trim()),
            'not the seed of a user: it has 58 letters and digits and begins "SU"',
          ),
        ),
      ),
      "The seed of the bridge's NKey. It signs the server's challenge and is never sent.",
    ),
    creds: describe(
      v.optional(
        v.pipe(
          secret(),
          v.check((creds) => CREDS.test(creds), "not the text of a .creds file: it holds a user JWT and an NKey seed"),
        ),
      ),
      'The text of a .creds file: write "${file:/run/secrets/bridge.creds}".',
    ),
    ping_interval: describe(
      v.optional(
        duration({
          min: MIN_PING_INTERVAL_MS,
          max: MAX_PING_INTERVAL_MS,
          problem: "expected a duration from 500ms to 2m",
        }),
        "10s",
      ),
      "A server that is silent for two to three times this long counts as lost.",
    ),
    connect_timeout: describe(
      v.optional(duration({ min: 1, max: MAX_CONNECT_TIMEOUT_MS, problem: "expected a duration up to 55s" }), "10s"),
      "How long one attempt to connect may take, and one request to JetStream. The requests with which consuming begins may take 30s in all.",
    ),
    inbox_prefix: describe(
      v.optional(checked(subjectText("[*>]"), prefixProblem), "_INBOX"),
      "How the subjects begin on which the bridge listens for answers and messages.",
    ),
    max_message_bytes: maxMessageBytes,
    tls: describe(v.optional(clientTlsSchema), "For addresses with TLS."),
  }),
  v.forward(
    v.check(
      ({ tls, servers }) => tls === undefined || servers.every((server) => /^tls:/i.test(server)),
      'has no effect without addresses with TLS: write all of them as "tls://"',
    ),
    ["tls"],
  ),
  v.forward(
    v.check(
      ({ username, password }) => (username === undefined) === (password === undefined),
      "goes with password: set both or none",
    ),
    ["username"],
  ),
  v.check(
    (options) => CREDENTIALS.filter((name) => options[name] !== undefined).length <= 1,
    `says more than once who the bridge is: set one of ${CREDENTIALS.join(", ")}`,
  ),
  v.metadata({
    ...bothOrNone("username", "password"),
    allOf: [
      conditional({ required: ["tls"] }, { properties: { servers: { items: matching("^[Tt][Ll][Ss]:") } } }),
      ...CREDENTIALS.map((one) => ({
        not: {
          required: [one],
          anyOf: CREDENTIALS.filter((other) => other !== one).map((other) => ({ required: [other] })),
        },
      })),
    ],
  }),
);

export type SessionOptions = v.InferOutput<typeof sessionOptions>;

export const receiverOptions = v.pipe(
  v.strictObject({
    stream: describe(named(), "The stream that messages are taken from."),
    consumer: describe(
      v.optional(named()),
      "The durable consumer to use: the server keeps its position and what is not settled. Default: an ephemeral one of the bridge's own.",
    ),
    create: describe(
      v.optional(v.boolean("expected true or false"), false),
      "Whether the bridge creates the durable consumer if it does not exist, and keeps its `ack_wait` and `max_ack_pending` as they are set here. One that exists with another filter is an error.",
    ),
    filter_subject: describe(
      v.optional(
        checked(subjectText("(?:^|\\.)>\\."), (filter) => {
          const problem = filterProblem(filter);
          return problem === undefined ? undefined : `not a filter of subjects: it ${problem}`;
        }),
      ),
      "For a consumer that the bridge creates: the subjects that it takes, with `*` and `>`. Default: all of the stream.",
    ),
    deliver: describe(
      v.optional(v.picklist(["all", "new"], 'expected "all" or "new"')),
      "For a consumer that the bridge creates: whether it begins with the stream's first message or with the next one. Default: `all`.",
    ),
    ack_wait: describe(
      v.optional(
        duration({ min: MIN_ACK_WAIT_MS, max: MAX_ACK_WAIT_MS, problem: "expected a duration from 500ms to 24h" }),
      ),
      "For a consumer that the bridge creates: how long after a crash a message comes again. It is extended while the bridge holds the message. Default: `30s`.",
    ),
    max_ack_pending: describe(
      v.optional(integer(1, 1_000_000)),
      "For a consumer that the bridge creates: messages handed out and not settled, those that wait for a retry included. Default: `max_in_flight` of the route.",
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.consumer === undefined || dataset.value.create) return;
    const input = dataset.value;
    for (const key of OF_CONSUMERS_MADE) {
      const value = input[key];
      if (value === undefined) continue;
      addIssue({
        message: "has no effect on a consumer that is there already: set create, or remove it",
        path: [{ type: "object", origin: "value", input, key, value }],
      });
    }
  }),
  v.metadata({
    allOf: [
      conditional(
        {
          required: ["consumer"],
          not: { required: ["create"], properties: { create: { not: { const: false } } } },
        },
        { not: { anyOf: OF_CONSUMERS_MADE.map((key) => ({ required: [key] })) } },
      ),
    ],
  }),
);

export type ReceiverOptions = v.InferOutput<typeof receiverOptions>;

export const senderOptions = v.strictObject({
  stream: describe(
    v.optional(named()),
    "The stream that must take the messages; a message that another stream takes is an error. Default: any stream.",
  ),
});

export type SenderOptions = v.InferOutput<typeof senderOptions>;

/** What a consumer that the bridge makes waits for a message to be settled. */
export function ackWaitOf({ ack_wait: ackWaitMs = DEFAULT_ACK_WAIT_MS }: ReceiverOptions): number {
  return ackWaitMs;
}

function named() {
  return v.pipe(
    checked(text(), (name) => {
      const problem = nameProblem(name);
      return problem === undefined ? undefined : `not a name in JetStream: it ${problem}`;
    }),
    v.metadata({ pattern: "^[^\\s.*>/\\\\\\u0000-\\u001f\\u007f]+$" }),
    v.maxBytes(MAX_NAME_BYTES, `at most ${MAX_NAME_BYTES} bytes`),
  );
}

/** Tokens between points, where nothing looks like `without`. */
function subjectText(without: string) {
  return v.pipe(
    text(),
    v.metadata({
      pattern: `^(?!.*${without})(?!\\.)(?!.*\\.\\.)(?!.*\\.$)[^\\s\\u0000-\\u001f\\u007f]+$`,
      maxLength: MAX_SUBJECT_BYTES,
    }),
  );
}

function prefixProblem(prefix: string): string | undefined {
  const problem = filterProblem(prefix);
  if (problem !== undefined) return `not the beginning of a subject: it ${problem}`;
  return /[*>]/.test(prefix) ? 'not the beginning of a subject: it holds "*" or ">"' : undefined;
}

function checked<Schema extends v.GenericSchema<string, string>>(
  schema: Schema,
  problemOf: (text: string) => string | undefined,
) {
  return v.pipe(
    schema,
    v.rawCheck(({ dataset, addIssue }) => {
      const problem = dataset.typed ? problemOf(dataset.value) : undefined;
      if (problem !== undefined) addIssue({ message: problem });
    }),
  );
}
