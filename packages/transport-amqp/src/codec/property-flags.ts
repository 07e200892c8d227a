/** The bit of each property of a message, in the order in which they follow. */
export const FLAG = {
  contentType: 0x8000,
  contentEncoding: 0x4000,
  headers: 0x2000,
  deliveryMode: 0x1000,
  priority: 0x800,
  correlationId: 0x400,
  replyTo: 0x200,
  expiration: 0x100,
  messageId: 0x80,
  timestamp: 0x40,
  type: 0x20,
  userId: 0x10,
  appId: 0x8,
  clusterId: 0x4,
} as const;
