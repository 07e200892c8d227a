import type { DeliveryStart, SendStart, TracedBinding, TracedRoute } from "@bridge/ports";
import type { Attributes } from "@opentelemetry/api";

/** What every span of a route says. */
export function routeAttributes({ routeId, receiverId, sessionId, system }: TracedRoute): Attributes {
  return {
    "messaging.system": system,
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "bridge.route.id": routeId,
    "bridge.receiver.id": receiverId,
    ...(sessionId !== undefined && { "bridge.session.id": sessionId }),
  };
}

/** What every send of a binding says. */
export function bindingAttributes({ routeId }: TracedRoute, binding: TracedBinding): Attributes {
  const { bindingId, senderId, sessionId, system, address } = binding;
  const destination = destinationOf(address);
  return {
    "messaging.system": system,
    "messaging.operation.name": "send",
    "messaging.operation.type": "send",
    ...(destination !== "" && { "messaging.destination.template": destination }),
    "bridge.route.id": routeId,
    "bridge.binding.id": bindingId,
    "bridge.sender.id": senderId,
    ...(sessionId !== undefined && { "bridge.session.id": sessionId }),
  };
}

/** The message, by OpenTelemetry's conventions for messaging. Neither payload nor headers are in it. */
export function deliveryAttributes({ envelope, origin, receiveCount }: DeliveryStart): Attributes {
  return {
    ...messageAttributes(envelope),
    ...(envelope.subject !== "" && { "messaging.destination.name": envelope.subject }),
    "bridge.origin": origin,
    ...(receiveCount !== undefined && { "bridge.receive_count": receiveCount }),
  };
}

export function sendAttributes({ envelope, attempt }: SendStart): Attributes {
  return { ...messageAttributes(envelope), "bridge.attempt": attempt };
}

function messageAttributes({ id, correlationId, payload }: DeliveryStart["envelope"]): Attributes {
  return {
    "messaging.message.id": id,
    "messaging.message.conversation_id": correlationId,
    "messaging.message.body.size": payload.byteLength,
  };
}

/** An address without what may be secret in a URL: its user and its query. */
function destinationOf(address: string): string {
  return address.replace(/\?.*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}
