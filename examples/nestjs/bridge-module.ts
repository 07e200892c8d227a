import type { DefinedBridge, Supervisor } from "@bridge/core";
import { type DynamicModule, type InjectionToken, Logger, type OnApplicationShutdown } from "@nestjs/common";

/** The bridge of an application: it runs when the application does, and ends with it. */
export class BridgeService implements OnApplicationShutdown {
  readonly bridge: Supervisor;
  readonly #logger = new Logger("Bridge");

  constructor(bridge: Supervisor) {
    this.bridge = bridge;
  }

  /** By then nobody calls the application any more, and what handlers need is still there. */
  async onApplicationShutdown(): Promise<void> {
    await this.bridge.shutdown();
    this.#logger.log("stopped");
  }
}

export interface BridgeModuleOptions<Services extends readonly unknown[]> {
  /** Modules that export what is injected. */
  readonly imports?: NonNullable<DynamicModule["imports"]>;
  /** What handlers need. */
  readonly inject: { readonly [At in keyof Services]: InjectionToken<Services[At]> };
  readonly define: (...services: Services) => DefinedBridge;
}

// oxlint-disable-next-line typescript/no-extraneous-class -- what NestJS names a module by
class BridgeModule {}

/** A module with a {@link BridgeService}. */
export function bridgeModule<Services extends readonly unknown[]>({
  imports = [],
  inject,
  define,
}: BridgeModuleOptions<Services>): DynamicModule {
  const useFactory = async (...services: Services): Promise<BridgeService> =>
    new BridgeService(await define(...services).start());
  return {
    module: BridgeModule,
    imports,
    providers: [{ provide: BridgeService, inject: [...inject], useFactory }],
    exports: [BridgeService],
  };
}
