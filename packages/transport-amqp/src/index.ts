export { amqpTransport } from "./amqp-transport.ts";
export type * from "./option-types.ts";
