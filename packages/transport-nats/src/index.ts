export { natsTransport } from "./nats-transport.ts";
export type * from "./option-types.ts";
