import type { OtlpSection } from "@bridge/config";
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import type { Environment } from "./settings.ts";

/** Who exports: by its service, its instance and whatever the operator says of it. */
export interface Exporting {
  readonly bridgeId: string;
  readonly instanceId: string;
  readonly version: string | undefined;
}

export function resourceOf(
  { bridgeId, instanceId, version }: Exporting,
  section: OtlpSection,
  env: Environment,
): Resource {
  const own = {
    "service.name": bridgeId,
    "service.instance.id": instanceId,
    ...(version !== undefined && { "service.version": version }),
  };
  const named = section.serviceName ?? (env["OTEL_SERVICE_NAME"] || undefined);
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(
      resourceFromAttributes({ ...(named !== undefined && { "service.name": named }), ...section.resourceAttributes }),
    );
}
