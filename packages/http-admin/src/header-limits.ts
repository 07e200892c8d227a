import { INGRESS_LIMITS } from "@bridge/core";
import * as v from "valibot";

type Headers = Readonly<Record<string, string>>;

export function sizeOfHeaders(headers: Headers): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/** What holds for the headers of a message in a request, as in any that comes in. */
export const withinHeaderLimits = [
  v.check<Headers, string>(
    (headers) => Object.keys(headers).length <= INGRESS_LIMITS.headers,
    `has more than ${INGRESS_LIMITS.headers} headers`,
  ),
  v.check<Headers, string>(
    (headers) => sizeOfHeaders(headers) <= INGRESS_LIMITS.headerSize,
    `has more than ${INGRESS_LIMITS.headerSize} characters in all`,
  ),
] as const;
