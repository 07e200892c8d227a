import {
  type AddressedSender,
  addressedSender,
  type RateLimited,
  type ReceiverDefinition,
  type TransportMaker,
  type TransportPlugin,
} from "@bridge/ports";
import { moreOptions } from "@bridge/ports/internal";
import { httpTransport } from "./http-transport.ts";
import type { HttpReceiverOptions, HttpSenderOptions } from "./option-types.ts";

/** The transport `http`, for definitions in code and for registries. */
export interface HttpAdapter extends TransportMaker {
  /** Sends messages as HTTP requests; `at(path)` is a target below its URL. */
  (options: HttpSenderOptions & RateLimited): AddressedSender;
  /** Takes messages in as HTTP requests: for `from`. Without a path at `/ingest/<route>`. */
  listen(options?: HttpReceiverOptions): ReceiverDefinition;
  /** The plugin itself, for those who wrap it. */
  plugin(): TransportPlugin;
}

/**
 * Takes messages in as HTTP requests and sends them out as HTTP requests.
 *
 * @example
 * const erp = http({ url: "https://erp.example", bearer: token });
 * const routes = { orders: { from: http.listen({ path: "/orders" }), to: erp.at("/orders/{$id}") } };
 */
export const http: HttpAdapter = Object.assign(
  (options: HttpSenderOptions & RateLimited) => addressedSender({ transport: http }, options),
  {
    type: "http",
    plugin: () => httpTransport(),
    listen: (options?: HttpReceiverOptions): ReceiverDefinition => ({
      kind: "receiver",
      transport: http,
      options: { ...moreOptions("http.listen", options) },
    }),
  },
);
