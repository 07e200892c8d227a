export { amqpTransport } from "./amqp-transport.ts";
export { amqp, type AmqpAdapter, type AmqpBroker } from "./amqp.ts";
export type * from "./option-types.ts";
