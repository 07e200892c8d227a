import { describe, duration } from "@bridge/ports/options";
import * as v from "valibot";

/** What a configuration, of any host, says of the sessions of browsers. */
export const browserSessions = {
  session_idle: describe(
    v.optional(sessionTime(), "1h"),
    "How long a browser stays signed in without a request, from 1m to 30d, and never longer than session_max.",
  ),
  session_max: describe(
    v.optional(sessionTime(), "12h"),
    "How long a browser stays signed in at most, from 1m to 30d.",
  ),
  trust_forwarded_proto: describe(
    v.optional(v.boolean(), false),
    "Whether the header X-Forwarded-Proto says that a browser uses TLS. For a proxy in front that terminates TLS and sets the header.",
  ),
};

function sessionTime() {
  return duration({ min: 60_000, max: 30 * 86_400_000, problem: "must be from 1m to 30d" });
}
