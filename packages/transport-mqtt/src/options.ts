import { clientTlsSchema, maxMessageBytes } from "@bridge/ports/internal";
import { conditional, describe, duration, integer, matching, secret, text } from "@bridge/ports/options";
import * as v from "valibot";
import { brokerUrlProblem } from "./broker-url.ts";
import { MAX_STRING_BYTES } from "./mqtt-string.ts";
import { topicProblem } from "./topic.ts";

const MIN_KEEP_ALIVE_MS = 1_000;
const MAX_KEEP_ALIVE_MS = 65_535_000;
/** The engine gives an attempt to connect up after a minute. */
const MAX_CONNECT_TIMEOUT_MS = 55_000;
const MAX_CLIENT_ID_LENGTH = 1_024;

const brokerUrl = v.pipe(
  v.string("expected a broker address"),
  v.metadata({ pattern: "^\\s*([Mm][Qq][Tt][Tt][Ss]?|[Tt][Cc][Pp]|[Ss][Ss][Ll])://(:?@)?[^/?#@\\s]+/?\\s*$" }),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? brokerUrlProblem(dataset.value) : undefined;
    if (problem !== undefined) addIssue({ message: problem });
  }),
);

const fitting = () => v.maxBytes<string, number, string>(MAX_STRING_BYTES, `at most ${MAX_STRING_BYTES} bytes`);

const topicName = v.pipe(
  text(),
  v.metadata({ pattern: "^[^+#\\u0000-\\u001f\\u007f-\\u009f]+$", maxLength: MAX_STRING_BYTES }),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? topicProblem(dataset.value) : undefined;
    if (problem !== undefined) addIssue({ message: `not a topic: it ${problem}` });
  }),
);

const will = v.strictObject({
  topic: describe(topicName, "The topic that the broker publishes it to."),
  payload: describe(v.optional(v.pipe(v.string("expected a string"), fitting()), ""), "The payload that it publishes."),
  qos: describe(
    v.optional(v.picklist([0, 1, 2], "expected 0, 1 or 2"), 0),
    "The quality of service with which it publishes it.",
  ),
  retain: describe(
    v.optional(v.boolean("expected true or false"), false),
    "Whether the broker keeps it for later subscribers.",
  ),
});

export const sessionOptions = v.pipe(
  v.strictObject({
    broker_urls: describe(
      v.pipe(v.array(brokerUrl, "expected a list of addresses"), v.minLength(1, "name at least one broker")),
      'Addresses of the broker, such as "mqtt://host:1883" or "mqtts://host:8883", tried in turn.',
    ),
    client_id: describe(
      v.optional(v.pipe(text(), v.maxLength(MAX_CLIENT_ID_LENGTH, `at most ${MAX_CLIENT_ID_LENGTH} characters`))),
      "Must differ for each replica, unless the session is exclusive, and stay the same over restarts. Connections that send add `-target`. Default: `bridge-<bridge id>:<session id>`, followed in a cluster by `:<instance id>` unless the session is exclusive.",
    ),
    protocol_version: describe(
      v.optional(v.picklist([5, 4], "expected 5 (MQTT 5) or 4 (MQTT 3.1.1)"), 5),
      "5 is MQTT 5, 4 is MQTT 3.1.1, which carries no headers.",
    ),
    keep_alive: describe(
      v.optional(
        duration({ min: MIN_KEEP_ALIVE_MS, max: MAX_KEEP_ALIVE_MS, problem: "expected a duration from 1s to 18h" }),
        "30s",
      ),
      "A broker that is silent for one and a half times this long counts as lost.",
    ),
    connect_timeout: describe(
      v.optional(duration({ min: 1, max: MAX_CONNECT_TIMEOUT_MS, problem: "expected a duration up to 55s" }), "10s"),
      "How long one attempt to connect may take, and one to subscribe.",
    ),
    session_expiry: describe(
      v.optional(duration(), "24h"),
      "How long the broker keeps a session that is not connected, with the messages that it has not handed over (MQTT 5, unless ephemeral).",
    ),
    receive_maximum: describe(
      v.optional(integer(1, 65_535)),
      "Messages that the broker may hand over before the first is acknowledged (MQTT 5). Default: `max_in_flight` of the routes that the session feeds, together.",
    ),
    max_message_bytes: maxMessageBytes,
    username: describe(v.optional(v.pipe(text(), fitting())), "The user name of the bridge at the broker."),
    password: describe(v.optional(v.pipe(secret(), fitting())), "The password of `username`."),
    tls: describe(v.optional(clientTlsSchema), "For addresses with TLS."),
    will: describe(v.optional(will), "What the broker publishes when a connection of the session is lost."),
    ack_order: describe(
      v.optional(v.picklist(["connection", "any"], 'expected "connection" or "any"'), "connection"),
      "`connection`: messages are acknowledged in the order of their receipt, as the standard requires. `any`: as soon as they are settled.",
    ),
    retain_as_published: describe(
      v.optional(v.boolean("expected true or false"), false),
      "`true`: every message that was published with retain has the header `mqtt.retain`, even one that comes at once. `false`: only messages that the broker had kept (MQTT 5).",
    ),
    id_property: describe(
      v.optional(v.pipe(text(), fitting()), "message-id"),
      "The user property that holds the envelope id (MQTT 5).",
    ),
  }),
  v.forward(
    v.check(
      ({ tls: block, broker_urls }) => block === undefined || broker_urls.some((url) => /^(?:mqtts|ssl):/i.test(url)),
      'has no effect without an address with TLS: write it as "mqtts://"',
    ),
    ["tls"],
  ),
  v.forward(
    v.check(
      ({ password, username, protocol_version }) =>
        password === undefined || username !== undefined || protocol_version === 5,
      "needs a username in MQTT 3.1.1",
    ),
    ["password"],
  ),
  v.forward(
    v.check(
      ({ receive_maximum, protocol_version }) => receive_maximum === undefined || protocol_version === 5,
      "is known to MQTT 5 only: remove it, or set protocol_version to 5",
    ),
    ["receive_maximum"],
  ),
  v.forward(
    v.check(
      ({ retain_as_published, protocol_version }) => !retain_as_published || protocol_version === 5,
      "is known to MQTT 5 only: remove it, or set protocol_version to 5",
    ),
    ["retain_as_published"],
  ),
  v.metadata({
    allOf: [
      conditional(
        { required: ["tls"] },
        { properties: { broker_urls: { contains: matching("^([Mm][Qq][Tt][Tt][Ss]|[Ss][Ss][Ll]):") } } },
      ),
      conditional(
        { required: ["protocol_version"], properties: { protocol_version: { const: 4 } } },
        {
          not: { required: ["receive_maximum"] },
          dependencies: { password: ["username"] },
          properties: { retain_as_published: { type: "boolean", const: false } },
        },
      ),
    ],
  }),
);

export type SessionOptions = v.InferOutput<typeof sessionOptions>;

export const receiverOptions = v.strictObject({});

export const senderOptions = v.strictObject({
  qos: describe(
    v.optional(
      v.picklist([0, 1], "expected 0 or 1; QoS 2 adds a round trip and nothing to an at-least-once bridge"),
      1,
    ),
    "1: a message counts as sent when the broker has acknowledged it. 0: when it has left the bridge, which loses messages.",
  ),
  retain: describe(
    v.optional(v.boolean("expected true or false"), false),
    "Whether the broker keeps the last message of each topic for later subscribers.",
  ),
});

export type SenderOptions = v.InferOutput<typeof senderOptions>;
