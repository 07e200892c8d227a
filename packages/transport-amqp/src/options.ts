import { clientTlsSchema, maxMessageBytes } from "@bridge/ports/internal";
import { conditional, describe, duration, integer, matching, secret, text } from "@bridge/ports/options";
import * as v from "valibot";
import { brokerUrlProblem } from "./broker-url.ts";
import { MAX_SHORT_BYTES } from "./short-string.ts";

const MIN_HEARTBEAT_MS = 1_000;
const MAX_HEARTBEAT_MS = 65_535_000;
/** The engine gives an attempt to connect up after a minute. */
const MAX_CONNECT_TIMEOUT_MS = 55_000;
export const MAX_PREFETCH = 65_535;

const brokerUrl = v.pipe(
  v.string("expected a broker address"),
  v.metadata({ pattern: "^\\s*[Aa][Mm][Qq][Pp][Ss]?://(:?@)?[^/?#@\\s]+(/[^/?#]*)?$" }),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? brokerUrlProblem(dataset.value) : undefined;
    if (problem !== undefined) addIssue({ message: problem });
  }),
);

export const sessionOptions = v.pipe(
  v.strictObject({
    url: describe(
      brokerUrl,
      'Address of the broker, such as "amqp://host:5672" or "amqps://host/plant"; the path is the virtual host, default `/`.',
    ),
    username: describe(v.optional(text(), "guest"), "The user name of the bridge at the broker."),
    password: describe(v.optional(secret()), "The password of `username`. Default: `guest`, if `username` is `guest`."),
    heartbeat: describe(
      v.optional(
        duration({ min: MIN_HEARTBEAT_MS, max: MAX_HEARTBEAT_MS, problem: "expected a duration from 1s to 18h" }),
        "10s",
      ),
      "A broker that is silent for two to three times this long counts as lost. The broker may ask for less.",
    ),
    connect_timeout: describe(
      v.optional(duration({ min: 1, max: MAX_CONNECT_TIMEOUT_MS, problem: "expected a duration up to 55s" }), "10s"),
      "How long one attempt to connect may take, and one to consume.",
    ),
    max_message_bytes: describe(
      maxMessageBytes,
      "The largest payload that the bridge takes in. The bytes of a larger message are skipped as they come; the message stays in its queue, unacknowledged.",
    ),
    tls: describe(v.optional(clientTlsSchema), "For addresses with TLS."),
  }),
  v.forward(
    v.check(
      ({ tls, url }) => tls === undefined || /^amqps:/i.test(url),
      'has no effect without an address with TLS: write it as "amqps://"',
    ),
    ["tls"],
  ),
  v.forward(
    v.check(
      ({ username, password }) => username === "guest" || password !== undefined,
      "needs a password: set it, or remove the username",
    ),
    ["username"],
  ),
  v.metadata({
    allOf: [
      conditional({ required: ["tls"] }, { properties: { url: matching("^[Aa][Mm][Qq][Pp][Ss]:") } }),
      conditional(
        { required: ["username"], not: { required: ["password"] } },
        { properties: { username: { type: "string", enum: ["guest"] } } },
      ),
    ],
  }),
);

export type SessionOptions = v.InferOutput<typeof sessionOptions>;

export const receiverOptions = v.strictObject({
  queue: describe(named("queue"), "The queue that messages are taken from."),
  queue_type: describe(
    v.optional(v.picklist(["quorum", "classic"], 'expected "quorum" or "classic"'), "quorum"),
    "The type of the queue. Quorum queues count how often a message was handed out; for a classic one the bridge counts, in memory.",
  ),
  declare: describe(
    v.optional(v.boolean("expected true or false"), false),
    "Whether the bridge creates the queue, durable and of this type, if it does not exist. A queue that exists with other arguments is an error.",
  ),
  prefetch: describe(
    v.optional(integer(1, MAX_PREFETCH)),
    "Messages that the broker hands over before the first is acknowledged, those that wait for a retry included. Default: `max_in_flight` of the route.",
  ),
  retry: describe(
    v.optional(v.picklist(["hold", "requeue"], 'expected "hold" or "requeue"'), "hold"),
    "Where a message waits for its next attempt. `hold`: in its slot, in order. `requeue`: its slot is free meanwhile, for as many others as `prefetch` exceeds `max_in_flight` by. Then the broker puts it back into the queue, where others may overtake it. A message without an id, from a queue that does not count, is held in any case, as nobody could count its attempts.",
  ),
});

export type ReceiverOptions = v.InferOutput<typeof receiverOptions>;

export const senderOptions = v.strictObject({
  exchange: describe(
    v.optional(
      v.pipe(v.string("expected a string"), v.maxBytes(MAX_SHORT_BYTES, `at most ${MAX_SHORT_BYTES} bytes`)),
      "",
    ),
    "The exchange that messages are published to; bindings' addresses are routing keys. Default: the default exchange, where a routing key is the name of a queue.",
  ),
  mandatory: describe(
    v.optional(v.boolean("expected true or false"), true),
    "Whether a message that no queue takes is an error. `false`: the broker confirms and discards it.",
  ),
  persistent: describe(
    v.optional(v.boolean("expected true or false"), true),
    "Whether classic queues keep messages over a restart of the broker; quorum queues always do.",
  ),
});

export type SenderOptions = v.InferOutput<typeof senderOptions>;

function named(what: string) {
  return v.pipe(text(), v.maxBytes(MAX_SHORT_BYTES, `the name of a ${what} has at most ${MAX_SHORT_BYTES} bytes`));
}
