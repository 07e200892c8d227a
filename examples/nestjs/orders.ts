import type { DynamicModule } from "@nestjs/common";

export interface Order {
  readonly item: string;
}

/** What the application does with orders. */
export class OrdersService {
  async save({ item }: Order): Promise<void> {
    console.log(`saved ${item}`);
  }
}

// oxlint-disable-next-line typescript/no-extraneous-class -- what NestJS names a module by
class OrdersModule {}

/** With decorators: `@Module({ providers: [OrdersService], exports: [OrdersService] }) export class OrdersModule {}`. */
export const ordersModule: DynamicModule = {
  module: OrdersModule,
  providers: [OrdersService],
  exports: [OrdersService],
};
