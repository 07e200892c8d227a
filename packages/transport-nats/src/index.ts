export { nats, type NatsAdapter, type NatsCluster } from "./nats.ts";
export type * from "./option-types.ts";
