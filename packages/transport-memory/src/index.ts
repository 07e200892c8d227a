export { type FaultGate } from "./fault-gate.ts";
export { type MemoryChannel, type MemoryMessage, type SettledMessage } from "./memory-channel.ts";
export { MemoryHub, memoryHub, type MemoryHubOptions } from "./memory-hub.ts";
export { type MemoryLink } from "./memory-link.ts";
export { memory, type MemoryAdapter, type MemoryParts } from "./memory.ts";
export type * from "./option-types.ts";
export {
  createTestBridge,
  type TestBridge,
  type TestBridgeOptions,
  type TestedBridge,
  type TestedSupervisor,
} from "./testing/test-bridge.ts";
export { type ReceivedMessage, type TestMessage } from "./testing/test-message.ts";
