import type { Effects } from "#conversations/transaction/effects.ts";
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
  /** Made by {@link createMarks}, once for all that is sent. */
  readonly deliveryTracker: DeliveryTracker;
  /** Called after the commit. */
  readonly publishEffects: (effects: Effects | null) => void;
}
