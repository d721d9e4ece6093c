import type { PublishEffects } from "#conversations/work/effects.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { DeliveryTracker } from "./delivery-tracker.ts";
import type { Channels } from "#channels/channels.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Store } from "#database/contract.ts";

export interface DeliverDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Files;
  readonly checkpoint: Checkpoint;
  /** One for the whole process, because it batches the writes of parts that are sent at the same time. */
  readonly deliveryTracker: DeliveryTracker;
  readonly publishEffects: PublishEffects;
}
