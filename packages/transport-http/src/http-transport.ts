import { defineFactory, type ReceiverContext, type SenderContext, type TransportPlugin } from "@bridge/ports";
import type * as v from "valibot";
import { HttpReceiver } from "./receiver/http-receiver.ts";
import { parseListenAddress } from "./receiver/listen-address.ts";
import { Listeners } from "./receiver/listeners.ts";
import { receiverOptions } from "./receiver/receiver-options.ts";
import { HttpSender } from "./sender/http-sender.ts";
import { senderOptions } from "./sender/sender-options.ts";

/** Requests that wait to be pulled; how many are worked on is the route's `max_in_flight`. */
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 64 * 2 ** 20;

/**
 * The transport `http` (contract §8). Its receivers share a listener when they name the same address; that is known to
 * the returned value alone, so give each bridge of a process a transport of its own.
 *
 * @example
 * const plugins = { transports: [httpTransport()] };
 */
export function httpTransport(): TransportPlugin {
  const listeners = new Listeners();
  return {
    type: "http",
    receiver: {
      needsSession: false,
      topics: "refused",
      // The caller keeps its message until it is told 202, and repeats what was answered 503.
      redelivers: "always",
      // A request goes to one instance.
      competing: true,
      listens: (written, id) => {
        const { addr, path, tls } = written as v.InferOutput<typeof receiverOptions>;
        return { addr, path: pathOf(path, id), shared: tls };
      },
      ...defineFactory({
        options: receiverOptions,
        create: (options, { id, clock, logger }: ReceiverContext) => {
          const address = parseListenAddress(options.addr);
          if (address === undefined) throw new TypeError(`receiver "${id}": addr was not validated`);
          return new HttpReceiver({
            id,
            listeners,
            address,
            path: pathOf(options.path, id),
            tls: options.tls && {
              certFile: options.tls.cert_file,
              keyFile: options.tls.key_file,
              clientCaFile: options.tls.client_ca_file,
            },
            apiKey: options.api_key,
            localOnly:
              address.loopback &&
              options.api_key === undefined &&
              options.tls?.client_ca_file === undefined &&
              !options.allow_anonymous,
            maxBody: options.max_body,
            responseTimeoutMs: options.response_timeout,
            // A single body of the longest kind always fits.
            backlog: { requests: MAX_WAITING, bytes: Math.max(MAX_WAITING_BYTES, options.max_body) },
            clock,
            logger,
          });
        },
      }),
    },
    sender: {
      needsSession: false,
      ...defineFactory({
        options: senderOptions,
        create: (options, { clock }: SenderContext) => new HttpSender(options, clock),
      }),
    },
  };
}

function pathOf(written: string | undefined, id: string): string {
  return requestPath(written ?? `/ingest/${encodeURIComponent(id)}`);
}

/** A path as callers send it: what may not stand in a request is percent-encoded. */
function requestPath(path: string): string {
  return new URL(`http://localhost${path}`).pathname;
}
