export { mqtt, type MqttAdapter, type MqttBroker } from "./mqtt.ts";
export type * from "./option-types.ts";
