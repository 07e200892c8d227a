export { amqp, type AmqpAdapter, type AmqpBroker } from "./amqp.ts";
export type * from "./option-types.ts";
